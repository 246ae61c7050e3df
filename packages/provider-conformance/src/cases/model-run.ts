import assert from 'node:assert/strict';
import type { Delta, LanguageModelProvider, ModelRequest, ModelResponse } from '@hansard/provider';
import type { CommonFixture } from '../conformance-case.ts';
import { preview, returns } from '../expectations.ts';

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

export function prepare(
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

export function ask(
  fixture: ModelFixture,
  patienceMs: number,
  call = prepare(fixture),
): Promise<ModelResponse> {
  return returns('generate', patienceMs, () => fixture.provider.generate(call.request));
}

export function joined(deltas: readonly Delta[], type: Delta['type']): string | null {
  const texts = deltas.filter((delta) => delta.type === type).map(({ text }) => text);
  return texts.length === 0 ? null : texts.join('');
}

export function expectNoDelta(deltas: readonly Delta[], when: string): void {
  if (deltas.length > 0) assert.fail(`onDelta was called ${when}: ${preview(deltas[0])}`);
}
