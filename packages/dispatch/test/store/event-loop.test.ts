import { type FollowItem, openDispatchStore, runDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvents, createDispatch, followDispatch } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { agent, says } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';
const many = 20_000;

describe('timers and signals', () => {
  it('stop an agent that yields without end and never waits', async () => {
    let yielded = 0;
    const restless = agent(async function* ({ signal }) {
      for (; yielded < many && !signal.aborted; yielded += 1) yield says('more');
    });
    const { status } = await runDispatch({
      store: openDispatchStore(createMemoryStore()),
      taskDir,
      role: 'worker',
      agent: restless,
      limits: { timeMs: 1 },
    });
    expect(status).toBe('aborted');
    expect(yielded).toBeLessThan(many);
  });

  it('stop a follower while it still catches up', async () => {
    const store = openDispatchStore(createMemoryStore());
    const { dispatchId } = await createDispatch(store, taskDir, { role: 'worker' });
    const events = Array.from({ length: many }, () => newEvent('agent:text', { text: 'more' }));
    await appendEvents(store, taskDir, dispatchId, events);
    const stop = new AbortController();
    const items: FollowItem[] = [];
    setImmediate(() => stop.abort());
    for await (const item of followDispatch(store, taskDir, dispatchId, { signal: stop.signal }))
      items.push(item);
    expect(items.length).toBeLessThan(many);
  });
});
