import assert from 'node:assert/strict';
import type { ToolCall, ToolDefinition, ToolOutcome, ToolProvider } from '@hansard/provider';
import type { CommonFixture } from '../conformance-case.ts';
import { expectJson, expectObject, expectText, preview, returns, settles } from '../expectations.ts';

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

export function prepare({ call }: ToolFixture, changes: Partial<ToolCall> = {}): ToolCall {
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

export function make(
  fixture: ToolFixture,
  patienceMs: number,
  changes?: Partial<ToolCall>,
): Promise<ToolOutcome> {
  return returns(`callTool of ${fixture.call.tool}`, patienceMs, async () => {
    const answer = await fixture.provider.callTool(prepare(fixture, changes));
    const text: unknown = answer?.text;
    return (text instanceof String ? { ...answer, text: String(text) } : answer) as ToolOutcome;
  });
}

export function list({ provider }: ToolFixture, patienceMs: number): Promise<readonly ToolDefinition[]> {
  return returns('listTools', patienceMs, () => provider.listTools());
}

export function expectOutcome(outcome: ToolOutcome): void {
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
export async function expectRefusal(
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
