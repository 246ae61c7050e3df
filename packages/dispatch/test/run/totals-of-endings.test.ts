import { closeAbandonedDispatches, openDispatchStore, startDispatch } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import type { AgentActivity, AgentProvider, AgentRunRequest } from '@hansard/provider';
import { createMemoryStore } from '@hansard/store-memory';
import { appendEvents, createDispatch, ManualClock } from '@hansard/testing';
import { dispatchTree, sessionFacts } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { turn } from '../support/gate.ts';
import { agent, calls, event, says, stopped } from '../support/scripted-agent.ts';
import { statedBy, statedIn } from './stated-totals.ts';

const taskDir = 'lab/tasks/route-models';
const limits = { timeMs: 60_000, stallMs: 1_000, costUsd: 1 };

const call = (inputTokens: number, costUsd?: number): AgentActivity =>
  event('agent:inference', {
    model: 'm',
    usage: { inputTokens, outputTokens: 2, turns: 1 },
    ...(costUsd === undefined ? {} : { costUsd }),
  });

const ofSubAgent = (activity: AgentActivity): AgentActivity =>
  activity.kind === 'event' ? { ...activity, event: { ...activity.event, agentId: 'agent_002' } } : activity;

/** What the agent did before each ending: two calls of its own and one of a sub-agent. */
const work = [says('working'), call(10, 0.25), ofSubAgent(call(100, 0.125)), call(1_000, 0.25)];
const turnBefore = [
  ...work,
  event('session:complete', {
    status: 'completed',
    costUsd: 0.75,
    usage: { inputTokens: 2_000, outputTokens: 9 },
    turns: 4,
    durationMs: 900,
  }),
  call(5_000, 0.0625),
];

type Then = (request: AgentRunRequest) => AsyncIterable<AgentActivity>;

type End = (run: Awaited<ReturnType<typeof startDispatch>>, clock: ManualClock) => void;

const afterWork = (activities: readonly AgentActivity[], then?: Then | undefined) =>
  agent(async function* (request) {
    yield* activities;
    if (then === undefined) await stopped(request);
    else yield* then(request);
  });

const ends = async function* () {};
const throws = async function* (): AsyncGenerator<AgentActivity> {
  yield says('where am I?');
  throw new Error('lost my way');
};
const fails = async function* () {
  yield event('session:complete', { status: 'failed', reason: 'error' });
};
const loops = async function* () {
  for (let count = 0; count < 40; count += 1) yield calls('Bash', 'npm test');
};
const spends = async function* ({ signal }: AgentRunRequest) {
  while (!signal.aborted) yield call(1, 0.4);
};
const yieldsNonsense = async function* () {
  yield { kind: 'event', event: { type: 'agent:text' } } as unknown as AgentActivity;
};

const endings: readonly [name: string, status: string, then?: Then | undefined, end?: End][] = [
  ['whose agent ended without saying so', 'completed', ends],
  ['whose turn failed', 'crashed', fails],
  ['whose agent threw', 'crashed', throws],
  ['whose agent yielded something that is not an event', 'crashed', yieldsNonsense],
  ['that was killed for a loop', 'aborted', loops],
  ['that reached its cost limit', 'aborted', spends],
  ['that was aborted', 'aborted', undefined, (run) => run.abort('enough')],
  ['that was silent for too long', 'aborted', undefined, (_run, clock) => clock.advance(1_000)],
];

async function ended(agentProvider: AgentProvider, end?: End, only: Partial<typeof limits> = limits) {
  const clock = new ManualClock();
  const store = openDispatchStore(createMemoryStore(), { clock });
  const run = await startDispatch({
    store,
    taskDir,
    clock,
    role: 'worker',
    dispatchId: 'D1',
    agent: agentProvider,
    limits: only,
  });
  for (let turns = 0; turns < 20; turns += 1) await turn();
  end?.(run, clock);
  const envelope = await run.ended;
  return { envelope, events: await store.getDispatchEvents(taskDir, 'D1') };
}

describe('cost and tokens of a dispatch', () => {
  describe.each([
    ['in its first turn', work],
    ['in a turn after its first total', turnBefore],
  ])('%s', (_when, activities) => {
    it.each(endings)(
      '%s are what its log states, in the envelope, the tree and its view',
      async (_name, status, then, end) => {
        const { envelope, events } = await ended(afterWork(activities, then), end);
        const stated = statedIn(events);
        expect(stated.cost).toBeGreaterThan(0.5);
        expect({ status: envelope.status, ...statedBy(envelope) }).toEqual({ status, ...stated });
        const [node] = dispatchTree([envelope]);
        const [input, output] = stated.tokens ?? [];
        expect(node).toMatchObject({
          own: { costUsd: stated.cost, inputTokens: input, outputTokens: output },
          subtree: { costUsd: stated.cost, inputTokens: input, outputTokens: output },
        });
        const view = sessionFacts(envelope, events);
        expect(statedBy({ cost: view.costUsd, usage: view.usage })).toEqual(stated);
      },
    );

    it('that took too long are what its log states', async () => {
      const takeTooLong: End = (_run, clock) => clock.advance(60_000);
      const { envelope, events } = await ended(afterWork(activities), takeTooLong, { timeMs: 60_000 });
      expect(events.at(-1)?.type).toBe('harness:timeout');
      expect({ status: envelope.status, ...statedBy(envelope) }).toEqual({
        status: 'aborted',
        ...statedIn(events),
      });
    });

    it.each([
      ['whose process died', [], 'crashed'],
      ['whose process died after it was aborted', [newEvent('harness:abort', { by: 'signal' })], 'aborted'],
    ])('%s are what its log states', async (_name, last, status) => {
      const provider = createMemoryStore();
      const gone = openDispatchStore(provider);
      await createDispatch(gone, taskDir, { role: 'worker', dispatchId: 'D1' });
      const recorded = activities.flatMap((activity) => (activity.kind === 'event' ? [activity.event] : []));
      await appendEvents(gone, taskDir, 'D1', [...recorded, ...last]);
      const store = openDispatchStore(provider);
      const [envelope] = await closeAbandonedDispatches(store, taskDir);
      if (envelope === undefined) throw new Error('The dispatch was not closed.');
      const events = await store.getDispatchEvents(taskDir, 'D1');
      expect({ status: envelope.status, ...statedBy(envelope) }).toEqual({ status, ...statedIn(events) });
    });
  });

  it('that nobody stated are not known, and never 0', async () => {
    const { envelope } = await ended(afterWork([says('working'), call(10)], throws));
    expect(envelope).toMatchObject({ cost: null, usage: { inputTokens: 10, outputTokens: 2 } });
    expect(await ended(afterWork([says('working')], throws))).toMatchObject({
      envelope: { cost: null, usage: null },
    });
  });

  it('include each call once, although its agent yields it twice', async () => {
    const once = {
      kind: 'event',
      event: {
        ...newEvent('agent:inference', {
          model: 'm',
          usage: { inputTokens: 10, outputTokens: 2 },
          costUsd: 0.25,
        }),
        id: 'call-1',
        timestamp: '2026-03-01T09:00:00.000Z',
      },
    } as const;
    const { envelope, events } = await ended(afterWork([once, once], throws));
    expect(events.filter(({ type }) => type === 'agent:inference')).toHaveLength(1);
    expect(statedBy(envelope)).toEqual(statedIn(events));
  });

  it('have turns and a duration only where the last word states them', async () => {
    const total = turnBefore.slice(0, -1);
    const complete = await ended(afterWork(total, ends));
    expect(complete.envelope.usage).toEqual({
      inputTokens: 2_000,
      outputTokens: 9,
      turns: 4,
      durationMs: 900,
    });
    const goesOn = await ended(afterWork(turnBefore, throws));
    expect(goesOn.envelope.usage).toEqual({ inputTokens: 7_000, outputTokens: 11 });
  });
});
