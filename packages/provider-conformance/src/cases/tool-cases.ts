import assert from 'node:assert/strict';
import { freezeDeep } from '@hansard/events/plain';
import type { ToolCall, ToolDefinition, ToolOutcome, ToolProvider } from '@hansard/provider';
import { type CommonFixture, ConformanceKit, caseFamily } from '../conformance-case.ts';
import {
  expectClosesTwice,
  expectContract,
  expectJson,
  expectObject,
  expectText,
  expectUnchanged,
  letPass,
  preview,
  returns,
  settles,
  settling,
} from '../expectations.ts';

const toolCases = caseFamily<ToolScenario, ToolFixture>('tools', [
  {
    name: 'contract',
    title: 'names the version of the contract and has its methods',
    run: ({ provider }) => expectContract(provider, 'ToolProvider', ['listTools', 'callTool']),
  },
  {
    name: 'definitions',
    title: 'each tool has a name that models accept, and a description',
    async run(fixture, patienceMs) {
      const tools = await list(fixture, patienceMs);
      for (const { name, description } of tools) {
        if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
          assert.fail(`a tool has the name ${preview(name)}, expected 1 to 64 characters of A-Z a-z 0-9 _ -`);
        expectText(description, `the description of ${name}`);
      }
      const { tool } = fixture.call;
      assert.ok(
        tools.some(({ name }) => name === tool),
        `listTools does not list ${tool}, which the fixture calls`,
      );
    },
  },
  {
    name: 'unique-names',
    title: 'no two tools have one name',
    async run(fixture, patienceMs) {
      const names = (await list(fixture, patienceMs)).map(({ name }) => name);
      const twice = names.filter((name, index) => names.indexOf(name) !== index);
      if (twice.length > 0) assert.fail(`two tools have the name ${twice[0]}`);
    },
  },
  {
    name: 'input-schemas',
    title: 'each input schema is a JSON Schema of an object',
    async run(fixture, patienceMs) {
      for (const { name, inputSchema } of await list(fixture, patienceMs)) {
        const what = `the inputSchema of ${name}`;
        expectObject(inputSchema, what);
        expectJson(inputSchema, what);
        const { type, properties = {}, required = [] } = inputSchema;
        if (type !== 'object') assert.fail(`${what} has the type ${preview(type)}, expected 'object'`);
        expectObject(properties, `the properties of ${what}`);
        if (!Array.isArray(required) || required.some((key) => typeof key !== 'string'))
          assert.fail(`required of ${what} is ${preview(required)}, expected a list of names`);
      }
    },
  },
  {
    name: 'same-list',
    title: 'the list of tools is equal each time',
    async run(fixture, patienceMs) {
      const first = structuredClone(await list(fixture, patienceMs));
      expectUnchanged(await list(fixture, patienceMs), first, 'the list of tools');
    },
  },
  {
    name: 'outcome-shape',
    title: 'an outcome has a status, a text, and metadata that is a JSON object',
    async run(fixture, patienceMs) {
      const outcome = await make(fixture, patienceMs);
      expectOutcome(outcome);
      assert.equal(
        outcome.status,
        'completed',
        `the call of the fixture should succeed: ${preview(outcome)}`,
      );
    },
  },
  {
    name: 'unknown-tool',
    title: 'a call of an unknown tool is an error',
    run: (fixture, patienceMs) =>
      expectRefusal(fixture, patienceMs, 'an unknown tool', { tool: 'conformance_no_such_tool' }),
  },
  {
    name: 'after-failure',
    title: 'a call that failed does not end the provider',
    async run(fixture, patienceMs) {
      const bad = prepare(fixture, { tool: 'conformance_no_such_tool' });
      await settles('callTool with an unknown tool', patienceMs, () => fixture.provider.callTool(bad));
      const { status, text } = await make(fixture, patienceMs);
      assert.equal(
        status,
        'completed',
        `after a call that failed, a good call has the status ${status}: ${text}`,
      );
    },
  },
  {
    name: 'wrong-input',
    title: 'an input that does not fit the tool is an error',
    scenario: 'wrongInput',
    run: (fixture, patienceMs) =>
      expectRefusal(fixture, patienceMs, `the input ${preview(fixture.call.input)}`),
  },
  {
    name: 'any-input',
    title: 'a call settles for any JSON as input',
    async run(fixture, patienceMs) {
      for (const input of [null, [], 'text', 0, { deep: { er: [null] } }])
        await settles(`callTool with the input ${preview(input)}`, patienceMs, () =>
          fixture.provider.callTool(prepare(fixture, { input })),
        );
    },
  },
  {
    name: 'parallel',
    title: 'calls at the same time all succeed',
    async run(fixture, patienceMs) {
      const ids = ['call-1', 'call-2', 'call-3'];
      const outcomes = await Promise.all(ids.map((toolCallId) => make(fixture, patienceMs, { toolCallId })));
      for (const [index, { status, text }] of outcomes.entries())
        if (status !== 'completed')
          assert.fail(`of three calls at the same time, ${ids[index]} failed: ${text}`);
    },
  },
  {
    name: 'leaves-call',
    title: 'a call with a frozen input succeeds, and is left as it is',
    async run(fixture, patienceMs) {
      const call = prepare(fixture);
      freezeDeep(call.input);
      const before = { ...call, input: structuredClone(call.input) };
      const outcome = await returns('callTool with a frozen input', patienceMs, () =>
        fixture.provider.callTool(Object.freeze(call)),
      );
      assert.equal(outcome.status, 'completed', `a call with a frozen input failed: ${outcome.text}`);
      expectUnchanged({ ...call }, before, 'the call');
    },
  },
  {
    name: 'outcome-stays',
    title: 'a later call does not change an earlier outcome',
    async run(fixture, patienceMs) {
      const outcome = await make(fixture, patienceMs);
      const before = structuredClone(outcome);
      await make(fixture, patienceMs, { toolCallId: 'call-2' });
      expectUnchanged(outcome, before, 'the first outcome');
    },
  },
  {
    name: 'aborted-before',
    title: 'a call whose signal has aborted settles soon',
    async run(fixture, patienceMs) {
      const signal = AbortSignal.abort(new Error('stopped by the kit'));
      await settles('callTool with an aborted signal', patienceMs, () =>
        fixture.provider.callTool(prepare(fixture, { signal })),
      );
    },
  },
  {
    name: 'aborted-during',
    title: 'a call settles soon after its signal aborts',
    scenario: 'slow',
    async run(fixture, patienceMs) {
      const stop = new AbortController();
      await settles('callTool after the abort', patienceMs, async () => {
        const call = prepare(fixture, { signal: stop.signal });
        const outcome = settling(() => fixture.provider.callTool(call));
        await letPass();
        stop.abort(new Error('stopped by the kit'));
        await outcome;
      });
    },
  },
  {
    name: 'close-twice',
    title: 'closing twice is safe',
    run: ({ provider }, patienceMs) => expectClosesTwice(provider, patienceMs),
  },
]);

/** The cases for a `ToolProvider`. */
export const toolConformance = new ConformanceKit(toolCases);

/**
 * `wrongInput`: the call has an input that the tool cannot accept. `slow`: the call takes longer than `patienceMs`, unless the
 * signal aborts.
 */
export type ToolScenario = 'wrongInput' | 'slow';

export interface ToolFixture extends CommonFixture {
  readonly provider: ToolProvider;
  /** The call of the scenario. In `plain` it succeeds, each time that it is made. */
  readonly call: Pick<ToolCall, 'tool' | 'input'> & Partial<Pick<ToolCall, 'agents' | 'dispatches'>>;
}

function prepare({ call }: ToolFixture, changes: Partial<ToolCall> = {}): ToolCall {
  return {
    taskDir: 'conformance/tasks/tools',
    dispatchId: 'dispatch-1',
    toolCallId: 'call-1',
    signal: new AbortController().signal,
    observe: async () => 'output-1',
    ...call,
    input: structuredClone(call.input),
    ...changes,
  };
}

function make(fixture: ToolFixture, patienceMs: number, changes?: Partial<ToolCall>): Promise<ToolOutcome> {
  return returns(`callTool of ${fixture.call.tool}`, patienceMs, async () => {
    const answer = await fixture.provider.callTool(prepare(fixture, changes));
    const text: unknown = answer?.text;
    return (text instanceof String ? { ...answer, text: String(text) } : answer) as ToolOutcome;
  });
}

function list({ provider }: ToolFixture, patienceMs: number): Promise<readonly ToolDefinition[]> {
  return returns('listTools', patienceMs, () => provider.listTools());
}

function expectOutcome(outcome: ToolOutcome): void {
  if (outcome?.status !== 'completed' && outcome?.status !== 'error')
    assert.fail(`the status of the outcome is ${preview(outcome?.status)}, expected completed or error`);
  expectText(outcome.text, 'the text of the outcome');
  if (outcome.metadata !== undefined) {
    expectObject(outcome.metadata, 'metadata');
    expectJson(outcome.metadata, 'metadata');
  }
  if (outcome.changes !== undefined) {
    if (!Array.isArray(outcome.changes))
      assert.fail(`changes is ${preview(outcome.changes)}, expected a list of changed files`);
    expectJson(outcome.changes, 'changes');
    for (const change of outcome.changes) expectText(change?.path, 'the path of a change');
  }
  if (outcome.madeFrom !== undefined) {
    if (!Array.isArray(outcome.madeFrom))
      assert.fail(`madeFrom is ${preview(outcome.madeFrom)}, expected a list of ids`);
    for (const id of outcome.madeFrom) expectText(id, 'an id of madeFrom');
  }
}

/** Fails where a call that cannot succeed is answered as completed. */
async function expectRefusal(
  fixture: ToolFixture,
  patienceMs: number,
  what: string,
  changes?: Partial<ToolCall>,
): Promise<void> {
  const settled = await settles(`callTool with ${what}`, patienceMs, () =>
    fixture.provider.callTool(prepare(fixture, changes)),
  );
  if ('error' in settled) return;
  if (settled.value?.status !== 'error')
    assert.fail(`callTool with ${what} answered ${preview(settled.value)}, expected an error`);
  expectText(settled.value.text, 'the text of the outcome');
}
