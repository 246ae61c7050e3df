import type { AgentActivity, AgentRunRequest } from '@hansard/provider';
import { expect, it } from 'vitest';
import {
  type AgentFixture,
  type AgentScenario,
  agentConformance,
  type ProviderUnderTest,
} from '../src/index.ts';
import { agentUnderTest, complete, event, goodRun, ownCall, text, type World } from './good-providers.ts';

type Items = AsyncGenerator<AgentActivity, void>;

/** The good run with something around it. */
const around = (before: readonly AgentActivity[], after: readonly AgentActivity[]) =>
  agentUnderTest(async function* (request, world): Items {
    if (request.signal.aborted) return;
    yield* before;
    yield* goodRun(request, world);
    yield* after;
  });

/** Another run in one scenario. */
const inScenario = (scenario: string, run: (request: AgentRunRequest, world: World) => Items) =>
  agentUnderTest((request, world) =>
    request.prompt === scenario ? run(request, world) : goodRun(request, world),
  );

const withId = (item: AgentActivity, id: string): AgentActivity =>
  item.kind === 'event' ? { ...item, event: { ...item.event, id } } : item;

const forever = () => new Promise<never>(() => {});

const faults: ReadonlyArray<
  readonly [fault: string, caseId: string, agent: ProviderUnderTest<AgentScenario, AgentFixture>]
> = [
  ['has a text as contract version', 'contract', agentUnderTest(goodRun, { contract: '1' as never })],
  [
    'yields a result without a tool',
    'valid-items',
    inScenario('plain', async function* (request, world) {
      if (!request.signal.aborted)
        yield event('agent:tool_result', { status: 'completed', toolCallId: 'c1' });
      yield* goodRun(request, world);
    }),
  ],
  ['uses an id twice', 'unique-ids', around([withId(text('a'), 'one'), withId(text('b'), 'one')], [])],
  [
    'yields once more after its end',
    'stays-ended',
    agentUnderTest((request, world) => {
      const run = goodRun(request, world);
      const next = run.next.bind(run);
      let hasEnded = false;
      return Object.assign(run, {
        next: async () => {
          if (hasEnded) return { done: false as const, value: text('And again.') };
          const result = await next();
          hasEnded = result.done === true;
          return result;
        },
      });
    }),
  ],
  ['writes after its session:complete', 'completion-last', around([], [text('One more thing.')])],
  [
    'changes its request',
    'leaves-request',
    agentUnderTest((request, world) => {
      (request as { role: string }).role = 'me';
      return goodRun(request, world);
    }),
  ],
  [
    'runs one dispatch at a time',
    'parallel',
    {
      ...agentUnderTest(),
      create: (scenario) => {
        let isBusy = false;
        return agentUnderTest(async function* (request, world): Items {
          if (isBusy) throw new Error('busy');
          isBusy = true;
          try {
            yield* goodRun(request, world);
          } finally {
            isBusy = false;
          }
        }).create(scenario);
      },
    },
  ],
  [
    'hangs when it was stopped before',
    'aborted-before',
    agentUnderTest(async function* (request, world): Items {
      if (request.signal.aborted) await forever();
      yield* goodRun(request, world);
    }),
  ],
  [
    'does not listen to its signal',
    'aborted-during',
    inScenario('slow', async function* () {
      yield text('I begin.');
      await forever();
    }),
  ],
  [
    'does not let its reader leave',
    'left-early',
    inScenario('slow', async function* ({ signal }) {
      try {
        yield text('I begin.');
      } finally {
        if (!signal.aborted) await forever();
      }
    }),
  ],
  [
    'acts before it asks the hooks',
    'asks-hooks',
    inScenario('ownTool', async function* ({ askHooks }, world) {
      yield event('agent:tool_call', { ...ownCall, metadata: {} });
      world.hasFile = true;
      const { decision } = await askHooks(ownCall);
      world.hasFile = decision === 'allow';
      yield complete;
    }),
  ],
  [
    'asks the hooks about another call',
    'asks-hooks',
    inScenario('ownTool', async function* ({ askHooks }, world) {
      yield event('agent:tool_call', { ...ownCall, metadata: {} });
      const { decision } = await askHooks({ ...ownCall, toolCallId: 'c2' });
      world.hasFile = decision === 'allow';
      yield complete;
    }),
  ],
  [
    'does not obey a denial',
    'obeys-denial',
    inScenario('ownTool', async function* ({ askHooks }, world) {
      yield event('agent:tool_call', { ...ownCall, metadata: {} });
      await askHooks(ownCall);
      world.hasFile = true;
      yield complete;
    }),
  ],
  [
    'asks the hooks about an offered tool',
    'offered-tool',
    inScenario('offeredTool', async function* (request, world) {
      await request.askHooks({ toolCallId: 'c1', tool: 'conformance_echo', input: {} });
      yield* goodRun(request, world);
    }),
  ],
  [
    'repeats the messages that it receives',
    'messages',
    inScenario('messages', async function* (request, world) {
      yield* goodRun(request, world);
      yield event('user:message', { text: world.heard[0], source: { kind: 'user' } });
    }),
  ],
  [
    'has a start of its own each time',
    'recorded-start',
    agentUnderTest(goodRun, {
      recordedStart: (() => {
        const digits = [1, 2, 3, 4][Symbol.iterator]();
        return () => `2026-03-01T09:00:00.00${digits.next().value}Z`;
      })(),
    }),
  ],
  [
    'fails when it is closed a second time',
    'close-twice',
    {
      ...agentUnderTest(),
      create: (scenario) => {
        let count = 0;
        const close = () => {
          count += 1;
          if (count === 2) throw new Error('already closed');
        };
        return agentUnderTest(goodRun, { close }).create(scenario);
      },
    },
  ],
];

it('an agent that keeps the contract passes every case', async () => {
  const results = await agentConformance.run(agentUnderTest());
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
});

it.each(faults)('an agent that %s fails exactly the case %s', async (_, caseId, agent) => {
  const results = await agentConformance.run(agent);
  expect(results.filter(({ error }) => error !== null).map(({ id }) => id)).toEqual([`agents/${caseId}`]);
});

it('every case for a agent has a fault that it names', () => {
  const ids = agentConformance.cases.map(({ id }) => id);
  expect(new Set(faults.map(([, caseId]) => `agents/${caseId}`))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});
