import { modelConformance } from '@hansard/provider-conformance';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, it } from 'vitest';
import { createAiSdkModel } from '../src/index.ts';
import { finish, mockModel, type StreamPart, textParts } from './reply.ts';

const call = (toolCallId: string): StreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'look',
  input: '{"at":"table"}',
});

/** A model that says one word and then nothing more, until its signal aborts. */
function hangingModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({
      stream: new ReadableStream<StreamPart>({
        start(controller) {
          for (const part of textParts('Good').slice(0, 2)) controller.enqueue(part);
          abortSignal?.addEventListener('abort', () => controller.error(abortSignal.reason));
        },
      }),
    }),
  });
}

const models = {
  plain: () => mockModel([...textParts('Good ', 'day.'), finish()]),
  repeatable: () => mockModel([...textParts('Good ', 'day.'), finish()]),
  slow: hangingModel,
  toolCall: () => mockModel([call('c1'), call('c2'), finish('tool-calls')]),
};

modelConformance.define({
  name: 'model-ai-sdk',
  describe,
  it,
  scenarios: ['toolCall', 'slow', 'repeatable'],
  create: (scenario) => ({
    provider: createAiSdkModel({ model: models[scenario]() }),
    request:
      scenario === 'toolCall'
        ? { tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] }
        : {},
  }),
});
