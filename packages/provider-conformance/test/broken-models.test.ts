import type { LanguageModelProvider, ModelMessage, ModelRequest, ModelResponse } from '@hansard/provider';
import { expect, it } from 'vitest';
import { modelConformance } from '../src/index.ts';
import { answer, goodModel, modelUnderTest, say, untilAborted } from './good-providers.ts';

type Change = (response: ModelResponse) => object;

const changed = (change: Change) => (): LanguageModelProvider =>
  goodModel({
    generate: async (request) => {
      const response = await answer(request);
      return { ...response, ...change(response) } as ModelResponse;
    },
  });

const asking = (generate: (request: ModelRequest) => Promise<ModelResponse>) => () => goodModel({ generate });

const faults: ReadonlyArray<readonly [fault: string, caseId: string, open: () => LanguageModelProvider]> = [
  ['has no contract version', 'contract', () => goodModel({ contract: undefined as never })],
  ['answers without the name of its model', 'answer-shape', changed(() => ({ model: undefined }))],
  ['wants back what is not JSON', 'answer-shape', changed(() => ({ replay: { at: 1n } as never }))],
  ['counts half tokens', 'usage', changed(() => ({ usage: { inputTokens: 1.5, outputTokens: 1 } }))],
  ['states a negative cost', 'usage', changed(() => ({ costUsd: -1 }))],
  [
    'gives two calls one id',
    'tool-calls',
    changed(({ toolCalls }) => ({ toolCalls: toolCalls.map((call) => ({ ...call, toolCallId: 'c1' })) })),
  ],
  [
    'calls a tool with an input that is not JSON',
    'tool-calls',
    changed(({ toolCalls }) => ({ toolCalls: toolCalls.map((call) => ({ ...call, input: new Date(0) })) })),
  ],
  [
    'adds a system message to the request',
    'leaves-request',
    asking((request) => {
      (request.messages as ModelMessage[]).unshift({ role: 'system', text: 'Be brief.' });
      return answer(request);
    }),
  ],
  [
    'counts its answers',
    'no-state',
    () => {
      let count = 0;
      return goodModel({
        generate: async (request) => {
          const response = await answer({ ...request, onDelta: () => {} });
          count += 1;
          return { ...response, text: `${response.text} ${count}` };
        },
      });
    },
  ],
  [
    'refuses a second call while one is running',
    'parallel',
    () => {
      let isBusy = false;
      return goodModel({
        generate: async (request) => {
          if (isBusy) throw new Error('busy');
          isBusy = true;
          try {
            return await answer(request);
          } finally {
            isBusy = false;
          }
        },
      });
    },
  ],
  [
    'uses one object for all usage',
    'answer-stays',
    () => {
      const usage = { inputTokens: 0, outputTokens: 0 };
      return goodModel({
        generate: async (request) => {
          usage.outputTokens += 1;
          return { ...(await answer(request)), usage };
        },
      });
    },
  ],
  [
    'streams other words than it answers',
    'deltas-join',
    asking(async (request) => {
      const response = await answer({ ...request, onDelta: () => {} });
      request.onDelta?.({ type: 'delta:text', text: 'Good' });
      return response;
    }),
  ],
  [
    'streams after its answer',
    'no-late-delta',
    asking(async (request) => {
      const response = await answer({ ...request, onDelta: () => {} });
      if (!request.signal.aborted)
        setImmediate(() => request.onDelta?.({ type: 'delta:text', text: response.text }));
      return response;
    }),
  ],
  [
    'streams although it was stopped before',
    'aborted-before',
    asking(async (request) => {
      if (request.signal.aborted) request.onDelta?.({ type: 'delta:text', text: 'Good' });
      return answer(request);
    }),
  ],
  [
    'hangs when it was stopped before',
    'aborted-before',
    asking((request) => (request.signal.aborted ? new Promise(() => {}) : answer(request))),
  ],
  [
    'does not listen to its signal',
    'aborted-during',
    asking((request) =>
      request.messages.some(({ text }) => text === 'wait') ? new Promise(() => {}) : answer(request),
    ),
  ],
  [
    'streams after it was stopped',
    'no-delta-after-abort',
    asking(async (request) => {
      const { signal, onDelta, messages } = request;
      if (!messages.some(({ text }) => text === 'wait')) return answer(request);
      await untilAborted(signal).catch(() => onDelta?.({ type: 'delta:text', text: 'Good' }));
      return say('Good');
    }),
  ],
  [
    'cannot be closed twice',
    'close-twice',
    () => {
      let isClosed = false;
      return goodModel({
        close: () => {
          // The kit closes once more at the end of this case.
          if (isClosed) throw new Error('already closed');
          isClosed = true;
        },
      });
    },
  ],
];

it('a model that keeps the contract passes every case', async () => {
  const results = await modelConformance.run(modelUnderTest(goodModel));
  expect(results.filter(({ error }) => error !== null)).toEqual([]);
});

it.each(faults)('a model that %s fails exactly the case %s', async (_, caseId, open) => {
  const results = await modelConformance.run(modelUnderTest(open));
  expect(results.filter(({ error }) => error !== null).map(({ id }) => id)).toEqual([`models/${caseId}`]);
});

it('every case for a model has a fault that it names', () => {
  const ids = modelConformance.cases.map(({ id }) => id);
  expect(new Set(faults.map(([, caseId]) => `models/${caseId}`))).toEqual(new Set(ids));
  expect(new Set(ids).size).toBe(ids.length);
});
