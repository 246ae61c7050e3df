import assert from 'node:assert/strict';
import { freezeDeep } from '@hansard/events/plain';
import type { Delta, LanguageModelProvider, ModelRequest, ModelResponse } from '@hansard/provider';
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
  settles,
  settling,
} from '../expectations.ts';

const modelCases = caseFamily<ModelScenario, ModelFixture>('models', [
  {
    name: 'contract',
    title: 'names the version of the contract and has its methods',
    run: ({ provider }) => expectContract(provider, 'LanguageModelProvider', ['generate']),
  },
  {
    name: 'answer-shape',
    title: 'an answer has a text, a list of tool calls and the name of the model',
    async run(fixture, patienceMs) {
      const answer = await ask(fixture, patienceMs);
      expectText(answer.text, 'text');
      expectText(answer.model, 'model');
      if (!Array.isArray(answer.toolCalls))
        assert.fail(`toolCalls is ${preview(answer.toolCalls)}, expected a list`);
      if (answer.thinking !== undefined) expectText(answer.thinking.text, 'thinking.text');
      if (answer.thinking?.signature !== undefined)
        expectText(answer.thinking.signature, 'thinking.signature');
      if (answer.replay !== undefined) expectJson(answer.replay, 'replay');
      if (answer.stopReason !== undefined) expectText(answer.stopReason, 'stopReason');
    },
  },
  {
    name: 'usage',
    title: 'usage is whole numbers from 0, and a cost is a number from 0',
    async run(fixture, patienceMs) {
      const { usage, costUsd = 0 } = await ask(fixture, patienceMs);
      for (const key of ['inputTokens', 'outputTokens'] as const)
        assert.ok(
          Number.isSafeInteger(usage?.[key]),
          `usage.${key} is ${preview(usage?.[key])}, expected a whole number`,
        );
      for (const [key, value] of Object.entries(usage)) {
        const isWhole = key === 'durationMs' ? Number.isFinite(value) : Number.isSafeInteger(value);
        if (value !== undefined && !(isWhole && Number(value) >= 0))
          assert.fail(`usage.${key} is ${preview(value)}, expected a number from 0`);
      }
      if (!(Number.isFinite(costUsd) && costUsd >= 0))
        assert.fail(`costUsd is ${preview(costUsd)}, expected a number from 0`);
    },
  },
  {
    name: 'tool-calls',
    title: 'each tool call has an id of its own, the name of an offered tool, and an input that is JSON',
    scenario: 'toolCall',
    async run(fixture, patienceMs) {
      const call = prepare(fixture);
      const { toolCalls } = await ask(fixture, patienceMs, call);
      assert.ok(toolCalls.length > 0, 'the answer to the request of the scenario toolCall has no tool call');
      const offered = call.request.tools.map(({ name }) => name);
      const ids = new Set<string>();
      for (const { toolCallId, tool, input } of toolCalls) {
        if (typeof toolCallId !== 'string' || toolCallId === '')
          assert.fail(`a toolCallId is ${preview(toolCallId)}, expected a text that is not empty`);
        if (ids.has(toolCallId)) assert.fail(`two tool calls have the id ${toolCallId}`);
        ids.add(toolCallId);
        if (!offered.includes(tool))
          assert.fail(`the call ${toolCallId} is of ${preview(tool)}, which was not offered`);
        expectJson(input, `the input of ${toolCallId}`);
      }
    },
  },
  {
    name: 'leaves-request',
    title: 'a request with frozen messages and tools is answered, and left as it is',
    async run(fixture, patienceMs) {
      const call = prepare(fixture);
      const { messages, tools } = call.request;
      freezeDeep(messages);
      freezeDeep(tools);
      const before = structuredClone({ messages, tools });
      const settled = await settles('generate', patienceMs, () => fixture.provider.generate(call.request));
      if ('error' in settled)
        throw new Error(`generate failed on a frozen request: ${String(settled.error)}`, {
          cause: settled.error,
        });
      const { messages: messagesAfter, tools: toolsAfter } = call.request;
      expectUnchanged({ messages: messagesAfter, tools: toolsAfter }, before, 'the request');
    },
  },
  {
    name: 'no-state',
    title: 'a request has the same answer again, with another request between the two',
    scenario: 'repeatable',
    async run(fixture, patienceMs) {
      const first = structuredClone(await ask(fixture, patienceMs));
      const other = prepare(fixture);
      await ask(fixture, patienceMs, { ...other, request: { ...other.request, agentId: 'agent_002' } });
      const again = await ask(fixture, patienceMs);
      const contentOf = ({ text, thinking, toolCalls }: ModelResponse) => ({ text, thinking, toolCalls });
      expectUnchanged(contentOf(again), contentOf(first), 'the answer to the same request');
    },
  },
  {
    name: 'parallel',
    title: 'calls for two agents at the same time are both answered, and each receives its own deltas',
    async run(fixture, patienceMs) {
      const agents = ['agent_001', 'agent_002'];
      const calls = agents.map((agentId) => {
        const call = prepare(fixture);
        return { ...call, request: { ...call.request, agentId } };
      });
      const answers = await Promise.all(calls.map((call) => ask(fixture, patienceMs, call)));
      for (const answer of answers) expectText(answer.text, 'text');
      for (const [index, { deltas }] of calls.entries()) {
        const foreign = deltas.find(({ agentId }) => agentId !== undefined && agentId !== agents[index]);
        if (foreign !== undefined)
          assert.fail(
            `the call of ${agents[index]} received the delta of another agent: ${preview(foreign)}`,
          );
      }
    },
  },
  {
    name: 'answer-stays',
    title: 'a later call does not change an earlier answer',
    async run(fixture, patienceMs) {
      const answer = await ask(fixture, patienceMs);
      const before = structuredClone(answer);
      await ask(fixture, patienceMs);
      expectUnchanged(answer, before, 'the first answer');
    },
  },
  {
    name: 'deltas-join',
    title: 'the joined deltas are the text and the thinking of the answer',
    async run(fixture, patienceMs) {
      const call = prepare(fixture);
      const { text, thinking } = await ask(fixture, patienceMs, call);
      for (const delta of call.deltas) {
        if (!['delta:text', 'delta:thinking', 'delta:tool_input'].includes(delta?.type))
          assert.fail(`a delta has the type ${preview(delta?.type)}`);
        expectText(delta.text, 'the text of a delta');
      }
      const parts = [
        ['delta:text', text],
        ['delta:thinking', thinking?.text ?? ''],
      ] as const;
      for (const [type, whole] of parts) {
        const streamed = joined(call.deltas, type);
        if (streamed !== null && streamed !== whole)
          assert.fail(`the joined ${type} are ${preview(streamed)}, and the answer has ${preview(whole)}`);
      }
    },
  },
  {
    name: 'no-late-delta',
    title: 'no delta follows after the answer',
    async run(fixture, patienceMs) {
      const call = prepare(fixture);
      await ask(fixture, patienceMs, call);
      call.deltas.length = 0;
      await letPass();
      expectNoDelta(call.deltas, 'after generate had settled');
    },
  },
  {
    name: 'aborted-before',
    title: 'a call whose signal has aborted settles soon, without deltas',
    async run(fixture, patienceMs) {
      const call = prepare(fixture, AbortSignal.abort(new Error('stopped by the kit')));
      await settles('generate with an aborted signal', patienceMs, () =>
        fixture.provider.generate(call.request),
      );
      expectNoDelta(call.deltas, 'although the signal had aborted before');
    },
  },
  {
    name: 'aborted-during',
    title: 'a call settles soon after its signal aborts',
    scenario: 'slow',
    async run(fixture, patienceMs) {
      const stop = new AbortController();
      const call = prepare(fixture, stop.signal);
      await settles('generate after the abort', patienceMs, async () => {
        const answer = settling(() => fixture.provider.generate(call.request));
        await letPass();
        stop.abort(new Error('stopped by the kit'));
        await answer;
      });
    },
  },
  {
    name: 'no-delta-after-abort',
    title: 'no delta follows after the signal aborts',
    scenario: 'slow',
    async run(fixture, patienceMs) {
      const stop = new AbortController();
      const call = prepare(fixture, stop.signal);
      // The case aborted-during reports a call that does not settle.
      const answer = settling(() =>
        settles('generate after the abort', patienceMs, () => fixture.provider.generate(call.request)),
      );
      await letPass();
      stop.abort(new Error('stopped by the kit'));
      call.deltas.length = 0;
      await answer;
      await letPass();
      expectNoDelta(call.deltas, 'after the signal had aborted');
    },
  },
  {
    name: 'close-twice',
    title: 'closing twice is safe',
    run: ({ provider }, patienceMs) => expectClosesTwice(provider, patienceMs),
  },
]);

/** The cases for a `LanguageModelProvider`. */
export const modelConformance = new ConformanceKit(modelCases);

/**
 * `toolCall`: the request is answered with tool calls. `slow`: the answer takes longer than `patienceMs`, unless the signal
 * aborts. `repeatable`: equal requests have equal answers.
 */
export type ModelScenario = 'toolCall' | 'slow' | 'repeatable';

export interface ModelFixture extends CommonFixture {
  readonly provider: LanguageModelProvider;
  /** The request of the scenario. Absent: one message of a user, without tools. */
  readonly request?: Partial<Omit<ModelRequest, 'signal' | 'onDelta'>>;
}

interface ModelCall {
  readonly request: ModelRequest;
  readonly deltas: Delta[];
}

function prepare(
  { request = {} }: ModelFixture,
  signal: AbortSignal = new AbortController().signal,
): ModelCall {
  const deltas: Delta[] = [];
  const given: Omit<ModelRequest, 'signal'> = {
    agentId: 'agent_001',
    agentName: null,
    turn: 0,
    model: null,
    messages: [{ role: 'user', text: 'Say a few words.' }],
    tools: [],
    ...request,
  };
  return {
    request: { ...structuredClone(given), signal, onDelta: (delta) => void deltas.push(delta) },
    deltas,
  };
}

function ask(fixture: ModelFixture, patienceMs: number, call = prepare(fixture)): Promise<ModelResponse> {
  return returns('generate', patienceMs, () => fixture.provider.generate(call.request));
}

function joined(deltas: readonly Delta[], type: Delta['type']): string | null {
  const texts = deltas.filter((delta) => delta.type === type).map(({ text }) => text);
  return texts.length === 0 ? null : texts.join('');
}

function expectNoDelta(deltas: readonly Delta[], when: string): void {
  if (deltas.length > 0) assert.fail(`onDelta was called ${when}: ${preview(deltas[0])}`);
}
