import type { ModelRequest } from '@hansard/provider';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';

type DoStream = MockLanguageModelV4['doStream'];
export type StreamPart =
  Awaited<ReturnType<DoStream>>['stream'] extends ReadableStream<infer Part> ? Part : never;
export type CallOptions = Parameters<DoStream>[0];

const usage = {
  inputTokens: { total: 120, noCache: 20, cacheRead: 90, cacheWrite: 10 },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
};

export function streamOf(...parts: StreamPart[]): Awaited<ReturnType<DoStream>> {
  return { stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }) };
}

export function finish(unified: 'stop' | 'tool-calls' | 'length' = 'stop'): StreamPart {
  return { type: 'finish', finishReason: { unified, raw: undefined }, usage };
}

export function textParts(...deltas: string[]): StreamPart[] {
  return [
    { type: 'text-start', id: 't' },
    ...deltas.map((delta): StreamPart => ({ type: 'text-delta', id: 't', delta })),
    { type: 'text-end', id: 't' },
  ];
}

/** The library's own mock, answering each call with these parts. */
export function mockModel(parts: readonly StreamPart[], modelId = 'mock-1'): MockLanguageModelV4 {
  return new MockLanguageModelV4({ modelId, doStream: async () => streamOf(...parts) });
}

export function request(rest: Partial<ModelRequest> = {}): ModelRequest {
  return {
    agentId: 'agent_001',
    agentName: null,
    turn: 0,
    model: null,
    messages: [{ role: 'user', text: 'Hi.' }],
    tools: [],
    signal: new AbortController().signal,
    ...rest,
  };
}
