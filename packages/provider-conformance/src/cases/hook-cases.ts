import assert from 'node:assert/strict';
import type { CapturedEvent } from '@hansard/events';
import { freezeDeep } from '@hansard/events/plain';
import {
  type AgentInfo,
  type HookDecision,
  type HookHost,
  type HookObservation,
  type HookProvider,
  type HookQuestion,
  LoggedString,
  type ToolCallQuestion,
} from '@hansard/provider';
import { type CommonFixture, ConformanceKit, caseFamily } from '../conformance-case.ts';
import {
  expectClosesTwice,
  expectContract,
  expectJson,
  expectText,
  expectUnchanged,
  letPass,
  preview,
  returns,
} from '../expectations.ts';

const dispatchId = 'dispatch-1';

const caller: AgentInfo = {
  agentId: 'agent_001',
  name: null,
  languageModel: null,
  parentAgentId: null,
  state: 'active',
};

const callOfTool: ToolCallQuestion = {
  on: 'tool_call',
  dispatchId,
  agentId: caller.agentId,
  toolCallId: 'call-1',
  tool: 'conformance_tool',
  input: { text: 'Hello.' },
  agents: [caller],
  running: [],
};

const usualQuestions = ['tool_call', 'tool_result', 'delivery'] as const;

const { dispatchId: _, on: __, ...ofCall } = callOfTool;

const text = { dispatchId, text: 'Hello.', agents: [caller] };

const questions: { readonly [Kind in HookQuestion['on']]: Extract<HookQuestion, { readonly on: Kind }> } = {
  tool_call: callOfTool,
  tool_result: { ...ofCall, ...text, on: 'tool_result', status: 'completed' },
  delivery: { ...text, on: 'delivery', from: 'agent_003', to: caller.agentId },
  utterance: { ...text, on: 'utterance', agentId: caller.agentId, rejected: 0 },
  input: { ...text, on: 'input', agentId: caller.agentId },
};

const hookCases = caseFamily<HookScenario, HookFixture>('hooks', [
  {
    name: 'contract',
    title: 'names the version of the contract, has a name, and decides or observes',
    run({ provider }) {
      expectContract(provider, 'HookProvider', []);
      expectText(provider.name, 'the name');
      if (provider.decide === undefined && provider.observe === undefined)
        assert.fail('it has neither decide nor observe');
    },
  },
  {
    name: 'decision-shape',
    scenario: 'decides',
    title: 'decides with allow, deny and a reason, or alter and what it made',
    run: async (fixture, patienceMs) => expectDecision(await decide(fixture, patienceMs), fixture.question),
  },
  {
    name: 'each-kind-of-question',
    scenario: 'decides',
    title: 'decides about each kind of question that it wants to be asked',
    async run(fixture, patienceMs) {
      for (const on of fixture.provider.decidesOn ?? usualQuestions) {
        const question = questions[on];
        if (question === undefined)
          assert.fail(`it wants to be asked about ${preview(on)}, which does not exist`);
        // The kind of the scenario has a case of its own.
        if (on === (fixture.question ?? callOfTool).on) continue;
        expectDecision(await decide(fixture, patienceMs, { question }), question);
      }
    },
  },
  {
    name: 'unknown-question',
    scenario: 'decides',
    title: 'allows a question of a kind that it does not know',
    async run(fixture, patienceMs) {
      const { decision } = await decide(fixture, patienceMs, { question: unknownQuestion() });
      if (decision !== 'allow') assert.fail(`the decision is ${preview(decision)}, expected allow`);
    },
  },
  {
    name: 'decisions-at-once',
    scenario: 'decides',
    title: 'decides about several questions at the same time',
    async run(fixture, patienceMs) {
      const decisions = await Promise.all([1, 2, 3].map(() => decide(fixture, patienceMs)));
      for (const decision of decisions) assert.ok(decision !== undefined, 'a question had no decision');
    },
  },
  {
    name: 'decision-kept',
    scenario: 'decides',
    title: 'leaves a decision unchanged after it was given',
    async run(fixture, patienceMs) {
      const decision = await decide(fixture, patienceMs);
      const before = structuredClone(decision);
      await letPass();
      expectUnchanged(decision, before, 'the decision');
    },
  },
  {
    name: 'decides-in-a-run',
    scenario: 'decides',
    title: 'decides where the host has no agents, as in the run of an engine',
    async run(fixture, patienceMs) {
      await decide(fixture, patienceMs, { hasAgents: false });
    },
  },
  {
    name: 'observes-each-kind',
    scenario: 'observes',
    title: 'observes each kind of event, and ignores a kind that it does not know',
    async run(fixture, patienceMs) {
      for (const observation of [...everyObservation(), unknownObservation()])
        await observe(fixture, patienceMs, observation, new CountingHost(fixture, true).host);
    },
  },
  {
    name: 'observes-in-a-run',
    scenario: 'observes',
    title: 'observes where the host has no agents, as in the run of an engine',
    async run(fixture, patienceMs) {
      for (const observation of everyObservation())
        await observe(fixture, patienceMs, observation, new CountingHost(fixture, false).host);
    },
  },
  {
    name: 'awaits-what-it-does',
    scenario: 'observes',
    title: 'uses its host only until its observation is over',
    async run(fixture, patienceMs) {
      for (const observation of everyObservation()) {
        const counting = new CountingHost(fixture, true);
        await observe(fixture, patienceMs, observation, counting.host);
        counting.end();
        await letPass();
        if (counting.late > 0)
          assert.fail(`it used the host after its observation of a ${observation.what} was over`);
      }
    },
  },
  {
    name: 'close-twice',
    title: 'can be closed twice',
    run: ({ provider }, patienceMs) => expectClosesTwice(provider, patienceMs),
  },
]);

/** The cases for a `HookProvider`. */
export const hookConformance = new ConformanceKit(hookCases);

/** `decides`: the hook decides about `question`. `observes`: it observes. */
export type HookScenario = 'decides' | 'observes';

export interface HookFixture extends CommonFixture {
  readonly provider: HookProvider;
  /** A question that the hook decides. Absent: a call of the tool `conformance_tool`. */
  readonly question?: HookQuestion;
  /** What an agent of the hook answers. Absent: `Yes.` */
  readonly answer?: string;
}

/** A host that counts what a hook does after its time. `hasAgents`: as in a session. */
class CountingHost {
  late = 0;
  #isOver = false;
  readonly #answer: string;
  #asked = 0;
  readonly host: HookHost;

  constructor({ answer = 'Yes.' }: HookFixture, hasAgents: boolean) {
    this.#answer = answer;
    const own: AgentInfo = { ...caller, agentId: 'agent_002', name: 'Own', hook: 'conformance' };
    this.host = {
      inform: () => this.#act('message-1'),
      ...(hasAgents && {
        agents: {
          listAgents: () => [caller],
          createAgent: () => this.#act(own),
          harken: () => this.#act('message-2'),
          response: () => this.#act(new LoggedString(this.#answer, `answer-${++this.#asked}`)),
        },
      }),
    };
  }

  end(): void {
    this.#isOver = true;
  }

  async #act<T>(result: T): Promise<T> {
    if (this.#isOver) this.late += 1;
    return result;
  }
}

function decide(
  fixture: HookFixture,
  patienceMs: number,
  {
    question = fixture.question ?? callOfTool,
    hasAgents = true,
  }: { readonly question?: HookQuestion; readonly hasAgents?: boolean } = {},
): Promise<HookDecision> {
  const { host } = new CountingHost(fixture, hasAgents);
  return returns(`decide on ${question.on}`, patienceMs, () => {
    if (fixture.provider.decide === undefined) assert.fail('it has no decide');
    return fixture.provider.decide(structuredClone(question), host);
  });
}

function observe(
  { provider }: HookFixture,
  patienceMs: number,
  observation: HookObservation,
  host: HookHost,
): Promise<void> {
  return returns(`observe of ${observation.what}`, patienceMs, () => {
    if (provider.observe === undefined) assert.fail('it has no observe');
    return provider.observe(observation, host);
  });
}

type MadeObservation = readonly [what: string, type: CapturedEvent['type'], data: CapturedEvent['data']];

/** An observation of each kind. Their events are frozen. */
function everyObservation(): HookObservation[] {
  const tool = { toolCallId: 'call-1', tool: 'conformance_tool', metadata: {} };
  const made: readonly MadeObservation[] = [
    ['message', 'user:message', { text: 'Hello.', source: { kind: 'user' } }],
    ['delivery', 'user:message', { text: 'Hello.', source: { kind: 'agent', agentId: 'agent_003' } }],
    ['utterance', 'agent:text', { text: 'Hello.' }],
    ['call', 'agent:tool_call', { ...tool, input: { text: 'Hello.' } }],
    ['result', 'agent:tool_result', { ...tool, status: 'completed', output: 'Hello.' }],
    ['end', 'session:complete', { status: 'completed' }],
    ['notification', 'harness:abort', { reason: 'enough' }],
  ];
  return made.map(observationOf);
}

function unknownObservation(): HookObservation {
  return observationOf(['conformance_unknown', 'harness:conformance_unknown', {}]);
}

function observationOf([what, type, data]: MadeObservation): HookObservation {
  return {
    what: what as HookObservation['what'],
    dispatchId,
    event: freezeDeep({
      id: `event-${what}`,
      type,
      timestamp: '2026-03-01T09:30:00.000Z',
      agentId: caller.agentId,
      data,
    }),
  };
}

function unknownQuestion(): HookQuestion {
  return { ...callOfTool, on: 'conformance_unknown' as 'tool_call' };
}

function expectDecision(decision: HookDecision, question: HookQuestion = callOfTool): void {
  switch (decision?.decision) {
    case 'allow':
      return;
    case 'deny':
    case 'retry':
    case 'ask':
      expectText(decision.reason, `the reason of ${decision.decision}`);
      return;
    case 'alter':
      if (question.on === 'tool_call') expectJson(decision.input, 'the input of the alteration');
      else expectText(decision.text, 'the text of the alteration');
      return;
    default:
      assert.fail(`the decision is ${preview(decision)}, expected allow, ask, deny, retry or alter`);
  }
}
