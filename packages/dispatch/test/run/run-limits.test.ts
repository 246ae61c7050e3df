import {
  type DispatchRun,
  openDispatchStore,
  type RunDispatchOptions,
  startDispatch,
} from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { ManualClock } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { Gate, turn } from '../support/gate.ts';
import { agent, calls, delta, event, says, stopped, yields } from '../support/scripted-agent.ts';

const taskDir = 'lab/tasks/route-models';

function prepare() {
  const clock = new ManualClock();
  const store = openDispatchStore(createMemoryStore(), { clock });
  const start = (provider: AgentProvider, more: Partial<RunDispatchOptions> = {}) =>
    startDispatch({ store, taskDir, clock, role: 'worker', dispatchId: 'D1', agent: provider, ...more });
  const log = async () =>
    (await store.getDispatchEvents(taskDir, 'D1')).map(({ type, data }) => ({ type, data }));
  return { clock, store, start, log };
}

/** Reports that it works, then waits until it is stopped. */
const obedient = () =>
  agent(async function* (request) {
    yield says('working');
    await stopped(request);
  });

/** Reports that it works, then hangs and ignores every signal. */
const deaf = () =>
  agent(async function* () {
    yield says('working');
    await new Promise(() => {});
  });

const abortOf = async (run: DispatchRun) => (await run.ended).status;

describe('an abort', () => {
  it('is recorded with its reason and who asked, and the dispatch is aborted', async () => {
    const { start, log } = prepare();
    const run = await start(obedient());
    await turn();
    run.abort('wrong branch', 'product-analyst');
    expect(await abortOf(run)).toBe('aborted');
    expect(await log()).toEqual([
      { type: 'agent:text', data: { text: 'working' } },
      { type: 'harness:abort', data: { reason: 'wrong branch', by: 'product-analyst' } },
    ]);
  });

  it('comes from a signal, with its reason', async () => {
    const { start, log } = prepare();
    const controller = new AbortController();
    const run = await start(obedient(), { signal: controller.signal });
    await turn();
    controller.abort('shutting down');
    expect(await abortOf(run)).toBe('aborted');
    expect((await log())[1]?.data).toEqual({ reason: 'shutting down', by: 'signal' });
  });

  it('by a signal that was aborted before leaves a trace and never starts the agent', async () => {
    const { start, log } = prepare();
    let started = false;
    const unwanted = agent(async function* () {
      started = true;
      yield says('working');
    });
    const run = await start(unwanted, { prompt: 'Go', signal: AbortSignal.abort(new Error('not today')) });
    expect(await abortOf(run)).toBe('aborted');
    expect(started).toBe(false);
    expect((await log()).map(({ type }) => type)).toEqual(['user:message', 'harness:abort']);
    expect((await log())[1]?.data).toEqual({ reason: 'not today', by: 'signal' });
  });

  it('keeps what the agent still yields while it ends', async () => {
    const { start, log } = prepare();
    const tidy = agent(async function* (request) {
      await stopped(request);
      yield says('tidied up');
      yield event('session:complete', { status: 'completed', costUsd: 0.5 });
    });
    const run = await start(tidy);
    await turn();
    run.abort();
    expect(await run.ended).toMatchObject({ status: 'aborted', cost: 0.5 });
    expect((await log()).map(({ type }) => type)).toEqual([
      'harness:abort',
      'agent:text',
      'session:complete',
    ]);
  });

  it('does not wait longer than the grace for an agent that ignores it, nor hears it later', async () => {
    const { clock, start, log } = prepare();
    const late = new Gate();
    const ignorant = agent(async function* () {
      yield says('working');
      await late.opened;
      yield says('too late');
      throw new Error('also too late');
    });
    const run = await start(ignorant, { graceMs: 200 });
    await turn();
    run.abort();
    await turn();
    clock.advance(200);
    expect(await abortOf(run)).toBe('aborted');
    late.open();
    await turn();
    expect((await log()).map(({ type }) => type)).toEqual(['agent:text', 'harness:abort']);
  });

  it('is an abort even if the agent throws because of it', async () => {
    const { start, log } = prepare();
    const throwing = agent(async function* (request) {
      yield says('working');
      await stopped(request);
      request.signal.throwIfAborted();
    });
    const run = await start(throwing);
    await turn();
    run.abort();
    expect(await abortOf(run)).toBe('aborted');
    expect((await log()).map(({ type }) => type)).toEqual(['agent:text', 'harness:abort']);
  });

  it('is recorded once, and changes nothing after the end', async () => {
    const { clock, start, log } = prepare();
    const run = await start(obedient(), { limits: { timeMs: 10 } });
    await turn();
    run.abort('first');
    run.abort('second');
    clock.advance(10);
    expect(await abortOf(run)).toBe('aborted');
    run.abort('third');
    await turn();
    expect((await log()).filter(({ type }) => type.startsWith('harness:'))).toHaveLength(1);
  });
});

describe('the time limit', () => {
  it('ends a dispatch that takes longer, and says how long', async () => {
    const { clock, start, log } = prepare();
    const run = await start(deaf(), { limits: { timeMs: 60_000 }, graceMs: 0 });
    await turn();
    clock.advance(59_999);
    await turn();
    expect(await log()).toHaveLength(1);
    clock.advance(1);
    await turn();
    clock.advance(0);
    expect(await abortOf(run)).toBe('aborted');
    expect((await log())[1]).toEqual({
      type: 'harness:timeout',
      data: { elapsedMs: 60_000, limitMs: 60_000 },
    });
  });

  it('leaves no timer behind where the dispatch ends in time', async () => {
    const { clock, start } = prepare();
    const run = await start(yields(says('done')), { limits: { timeMs: 60_000, stallMs: 1_000 } });
    await run.ended;
    expect(clock.timers).toBe(0);
  });
});

describe('the stall timer', () => {
  it('stops an agent that yields nothing for so long, counted from its last activity', async () => {
    const { clock, start, log } = prepare();
    const gates = [new Gate(), new Gate()];
    const slowing = agent(async function* (request) {
      for (const gate of gates) {
        await gate.opened;
        yield delta('a token');
      }
      await stopped(request);
    });
    const run = await start(slowing, { limits: { stallMs: 1_000 } });
    for (const gate of gates) {
      clock.advance(900);
      gate.open();
      await turn();
    }
    clock.advance(999);
    await turn();
    expect(await log()).toEqual([]);
    clock.advance(1);
    expect(await abortOf(run)).toBe('aborted');
    expect(await log()).toEqual([{ type: 'harness:stall', data: { idleMs: 1_000, limitMs: 1_000 } }]);
  });

  it('is not put off by heartbeats, which are recorded', async () => {
    const { clock, start, log } = prepare();
    const gates = [new Gate(), new Gate()];
    const hanging = agent(async function* (request) {
      yield says('working');
      for (const gate of gates) {
        await gate.opened;
        yield { ...event('system:notice', { text: 'still there' }), isHeartbeat: true };
      }
      await stopped(request);
    });
    const run = await start(hanging, { limits: { stallMs: 1_000 } });
    await turn();
    for (const gate of gates) {
      clock.advance(400);
      gate.open();
      await turn();
    }
    clock.advance(199);
    await turn();
    const told = ['agent:text', 'system:notice', 'system:notice'];
    expect((await log()).map(({ type }) => type)).toEqual(told);
    clock.advance(1);
    expect(await abortOf(run)).toBe('aborted');
    expect((await log()).at(-1)).toEqual({
      type: 'harness:stall',
      data: { idleMs: 1_000, limitMs: 1_000 },
    });
  });

  it('is not put off for long by a clock that is set back', async () => {
    const { clock, start } = prepare();
    const run = await start(obedient(), { limits: { stallMs: 1_000 } });
    await turn();
    clock.setBack(3_600_000);
    clock.advance(1_000);
    clock.advance(1_000);
    expect(await abortOf(run)).toBe('aborted');
  });

  it('begins anew when the agent is sent a message', async () => {
    const { clock, start, log } = prepare();
    const run = await start(obedient(), { limits: { stallMs: 1_000 } });
    await turn();
    clock.advance(900);
    await run.send('take your time');
    clock.advance(900);
    await turn();
    expect((await log()).map(({ type }) => type)).toEqual(['agent:text', 'user:message']);
    clock.advance(100);
    expect(await abortOf(run)).toBe('aborted');
  });
});

describe('the loop detector', () => {
  const loopDetector = { window: 6, warnAt: 3, killAt: 5 };

  it('warns once, then stops an agent that keeps making the same call', async () => {
    const { store, start, log } = prepare();
    const looping = agent(async function* ({ signal }) {
      while (!signal.aborted) yield calls('Bash', 'npm test');
    });
    const run = await start(looping, { loopDetector });
    expect(await abortOf(run)).toBe('aborted');
    const call = 'agent:tool_call';
    expect((await log()).map(({ type }) => type)).toEqual([
      ...[call, call, call],
      'harness:loop_warning',
      ...[call, call],
      'harness:loop_kill',
    ]);
    const events = await store.getDispatchEvents(taskDir, 'D1');
    expect(events[3]).toMatchObject({
      cause: events[2]?.id,
      data: { tool: 'Bash', target: 'npm test', count: 3, limit: 3, window: 6 },
    });
    expect(events[6]).toMatchObject({ cause: events[5]?.id, data: { count: 5, limit: 5, window: 6 } });
  });

  it('can be left out', async () => {
    const { start, log } = prepare();
    const many = Array.from({ length: 50 }, () => calls('Bash', 'npm test'));
    const run = await start(yields(...many), { loopDetector: false });
    expect(await abortOf(run)).toBe('completed');
    expect(await log()).toHaveLength(50);
  });

  it('has defaults that let an agent edit and test by turns, and stop one that only repeats itself', async () => {
    const first = prepare();
    const turns = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? calls('Edit', `file-${index}`) : calls('Bash', 'npm test'),
    );
    expect(await abortOf(await first.start(yields(...turns)))).toBe('completed');
    const second = prepare();
    const many = Array.from({ length: 40 }, () => calls('Bash', 'npm test'));
    expect(await abortOf(await second.start(yields(...many)))).toBe('aborted');
  });
});

describe('the cost limit', () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const inference = (costUsd: number) => event('agent:inference', { model: 'm', usage, costUsd });

  it('stops an agent whose model calls have cost more', async () => {
    const { start, log } = prepare();
    const spending = agent(async function* ({ signal }) {
      while (!signal.aborted) yield inference(0.4);
    });
    const run = await start(spending, { limits: { costUsd: 1 } });
    expect(await abortOf(run)).toBe('aborted');
    expect((await log()).at(-1)).toEqual({
      type: 'harness:abort',
      data: { reason: 'cost limit: 1.2 of 1 US dollars spent', by: 'harness' },
    });
  });

  it('says at the end that it did not count calls without a stated cost, unless the total states it', async () => {
    const call = event('agent:inference', {
      model: 'free-1',
      usage: { inputTokens: 10, outputTokens: 1 },
      durationMs: 1,
    });
    const total = event('session:complete', { status: 'completed', costUsd: 0.5 });
    const told: unknown[] = [];
    for (const [activities, limits] of [
      [[call, call], { costUsd: 1 }],
      [[call, call, total], { costUsd: 1 }],
      [[call, call], {}],
    ] as const) {
      const { start, log } = prepare();
      await abortOf(await start(yields(...activities), { limits }));
      told.push((await log()).flatMap(({ data }) => ('code' in data ? [data] : [])));
    }
    const message =
      'The cost limit of 1 US dollars does not count free-1: the log does not state what its calls cost.';
    expect(told).toEqual([[{ code: 'DISPATCH_COST_UNKNOWN', message }], [], []]);
  });

  it('ignores an agent that is complete, and stops one that continues after its total', async () => {
    const total = event('session:complete', { status: 'completed', costUsd: 2 });
    const first = prepare();
    const ended = await first.start(yields(inference(0.5), total), { limits: { costUsd: 1 } });
    expect(await abortOf(ended)).toBe('completed');
    const second = prepare();
    const goesOn = await second.start(yields(total, says('one more thing')), { limits: { costUsd: 1 } });
    expect(await abortOf(goesOn)).toBe('aborted');
  });
});

describe('limits that make no sense', () => {
  it.each([
    [{ limits: { timeMs: -1 } }],
    [{ limits: { stallMs: Number.NaN } }],
    [{ limits: { costUsd: Number.POSITIVE_INFINITY } }],
    [{ graceMs: -5 }],
    [{ loopDetector: { window: 5, warnAt: 3, killAt: 6 } }],
    [{ loopDetector: { window: 5, warnAt: 0, killAt: 3 } }],
    [{ loopDetector: null }],
    [{ limits: { costUSD: 5 } }],
    [{ prompt: 5 }],
    [{ tools: 'bash' }],
    [{ priorOutcomes: { text: null, dispatchIds: [] } }],
  ])('are refused before anything is created: %j', async (more) => {
    const { store, start } = prepare();
    await expect(start(yields(), more as object)).rejects.toMatchObject({ code: 'DISPATCH_OPTION_INVALID' });
    expect(await store.getDispatchEnvelopes(taskDir)).toEqual([]);
  });
});

describe('events of other agents in the dispatch', () => {
  it('do not make a loop together with those of the dispatched one', async () => {
    const { start } = prepare();
    const data = { toolCallId: 'c', tool: 'Bash', target: 'ls', metadata: {} };
    const activities = ['agent_001', 'agent_002', 'agent_003', 'agent_004'].map((agentId) => ({
      kind: 'event' as const,
      event: newEvent('agent:tool_call', data, { agentId }),
    }));
    const run = await start(yields(...activities), { loopDetector: { window: 4, warnAt: 2, killAt: 3 } });
    expect(await abortOf(run)).toBe('completed');
  });
});
