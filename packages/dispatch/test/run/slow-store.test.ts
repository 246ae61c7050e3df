import { openDispatchStore, startDispatch } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { changedStore } from '../support/changed-store.ts';
import { Gate, turn } from '../support/gate.ts';
import { agent, event, says, stopped } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

/** Starts an agent on a store that takes one kind of event only when its gate is opened. */
async function prepare(isSlow: (event: CapturedEvent) => boolean, provider: AgentProvider) {
  const clock = new ManualClock();
  const gate = new Gate();
  const slow = changedStore((inner) => ({
    async appendEvent(task, dispatchId, captured) {
      if (isSlow(captured)) await gate.opened;
      return inner.appendEvent(task, dispatchId, captured);
    },
  }));
  const store = openDispatchStore(slow, { clock });
  const limits = { stallMs: 1_000 };
  const run = await startDispatch({
    store,
    taskDir,
    clock,
    role: 'worker',
    agent: provider,
    prompt: 'Go',
    limits,
  });
  const types = async () => (await store.getDispatchEvents(taskDir, run.dispatchId)).map(({ type }) => type);
  return { clock, gate, run, types };
}

describe('a store that is slow', () => {
  it.each([
    ['its prompt', (captured: CapturedEvent) => captured.type === 'user:message'],
    ['what it says', (captured: CapturedEvent) => captured.type === 'agent:text'],
  ])('is not held against the agent as a stall, with %s', async (_what, isSlow) => {
    const { clock, gate, run, types } = await prepare(
      isSlow,
      agent(async function* () {
        yield says('working');
      }),
    );
    await turn();
    clock.advance(5_500);
    gate.open();
    expect(await run.ended).toMatchObject({ status: 'completed' });
    expect(await types()).toEqual(['user:message', 'agent:text']);
    expect(clock.timers).toBe(0);
  });

  it.each([
    ['many times too long, with what it says', 'agent:text', 5_500],
    ['not quite too long, with what it says', 'agent:text', 900],
    ['not quite too long, with its prompt', 'user:message', 900],
  ])('does not excuse an agent that is silent then: %s', async (_what, slowType, tookMs) => {
    const { clock, gate, run, types } = await prepare(
      ({ type }) => type === slowType,
      agent(async function* (request) {
        if (slowType === 'agent:text') yield says('working');
        await stopped(request);
      }),
    );
    await turn();
    clock.advance(tookMs);
    gate.open();
    await turn();
    clock.advance(999);
    await turn();
    expect(await types()).not.toContain('harness:stall');
    clock.advance(1);
    expect(await run.ended).toMatchObject({ status: 'aborted' });
    expect((await types()).at(-1)).toBe('harness:stall');
  });

  it('ends an aborted run after it has stored the earlier events, with their cost', async () => {
    const { clock, gate, run, types } = await prepare(
      ({ type }) => type === 'session:complete',
      agent(async function* () {
        yield event('session:complete', { status: 'completed', costUsd: 0.5 });
        await new Promise(() => {});
      }),
    );
    await turn();
    run.abort();
    await turn();
    clock.advance(60_000);
    await turn();
    gate.open();
    expect(await run.ended).toMatchObject({ status: 'aborted', cost: 0.5 });
    expect(await types()).toEqual(['user:message', 'session:complete', 'harness:abort']);
  });
});
