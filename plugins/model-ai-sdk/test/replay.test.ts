import type { ModelMessage, ModelResponse } from '@hansard/provider';
import { describe, expect, it } from 'vitest';
import { createAiSdkModel } from '../src/index.ts';
import { finish, mockModel, request, type StreamPart, textParts } from './reply.ts';

const settings = { maxRetries: 0 };
const signed = { vendor: { signature: 'abc' } };

const reasoning = (id: string, text: string, providerMetadata?: object) =>
  [
    { type: 'reasoning-start', id },
    { type: 'reasoning-delta', id, delta: text },
    { type: 'reasoning-end', id, ...(providerMetadata === undefined ? {} : { providerMetadata }) },
  ] as StreamPart[];

const callOf = (toolCallId: string, providerMetadata?: object) =>
  ({
    type: 'tool-call',
    toolCallId,
    toolName: 'read',
    input: '{"page":1}',
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  }) as StreamPart;

/** The answer of the model, as a session gives it back. */
function given({ text, thinking, toolCalls, replay }: ModelResponse): ModelMessage {
  const repeated = replay === undefined ? {} : { thinking: thinking?.text ?? '', replay };
  return { role: 'assistant', text, toolCalls, ...repeated };
}

const results = (toolCalls: ModelResponse['toolCalls']): ModelMessage[] =>
  toolCalls.map(({ toolCallId, tool }) => ({
    role: 'tool',
    toolCallId,
    tool,
    text: 'a page',
    isError: false,
  }));

/** What the model is shown of its first answer, as the parts of the prompt of its second call. */
async function shownAgain(
  parts: readonly StreamPart[],
  change: (message: ModelMessage) => ModelMessage = (message) => message,
  second: string | null = 'm-1',
): Promise<unknown> {
  const tools = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }];
  const first = await createAiSdkModel({ model: mockModel(parts), settings }).generate(
    request({ tools, model: 'm-1' }),
  );
  const model = mockModel([...textParts('Done.'), finish()]);
  const answer = JSON.parse(JSON.stringify(change(given(first)))) as ModelMessage;
  await createAiSdkModel({ model, settings }).generate(
    request({
      tools,
      model: second,
      messages: [{ role: 'user', text: 'Read.' }, answer, ...results(first.toolCalls)],
    }),
  );
  return model.doStreamCalls[0]?.prompt[1]?.content;
}

const call = (toolCallId: string, providerOptions?: object) =>
  expect.objectContaining({
    type: 'tool-call',
    toolCallId,
    toolName: 'read',
    input: { page: 1 },
    providerOptions,
  });

const interleaved = [
  ...reasoning('r1', 'First the page.', signed),
  ...textParts('I read.'),
  ...reasoning('r2', '', { vendor: { redactedData: 'xyz' } }),
  callOf('c1'),
  finish('tool-calls'),
];

describe('the reasoning of an answer', () => {
  it('is given back to the model in its order and with what the vendor added to each part', async () => {
    expect(await shownAgain(interleaved)).toEqual([
      { type: 'reasoning', text: 'First the page.', providerOptions: signed },
      { type: 'text', text: 'I read.', providerOptions: undefined },
      { type: 'reasoning', text: '', providerOptions: { vendor: { redactedData: 'xyz' } } },
      call('c1'),
    ]);
  });

  it('is given back without a signature where the vendor has none', async () => {
    const content = await shownAgain([...reasoning('r1', 'Hm.'), callOf('c1'), finish('tool-calls')]);
    expect(content).toEqual([expect.objectContaining({ type: 'reasoning', text: 'Hm.' }), call('c1')]);
  });

  it('that a vendor signed on the tool calls alone is given back with them', async () => {
    const google = { google: { thoughtSignature: 'abc' } };
    const content = await shownAgain([callOf('c1', google), callOf('c2'), finish('tool-calls')]);
    expect(content).toEqual([call('c1', google), call('c2')]);
  });

  it('is not recorded where there is none, whatever else the vendor adds', async () => {
    const itemId = { openai: { itemId: 'msg_1' } };
    const parts = [...textParts('I read.'), callOf('c1', itemId), finish('tool-calls')];
    const tools = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }];
    const answer = await createAiSdkModel({ model: mockModel(parts), settings }).generate(request({ tools }));
    expect(answer).not.toHaveProperty('replay');
    expect(await shownAgain(parts)).toEqual([
      { type: 'text', text: 'I read.', providerOptions: undefined },
      call('c1'),
    ]);
  });

  it.each<[string, (message: ModelMessage) => ModelMessage, string | null]>([
    ['another model', (message) => message, 'm-2'],
    ['another provider', (message) => ({ ...message, replay: { cursor: 7 } }) as ModelMessage, 'm-1'],
    [
      'a text that is not the one that was signed',
      (message) => ({ ...message, text: 'I did.!' }) as ModelMessage,
      'm-1',
    ],
    [
      'other thoughts',
      (message) => ({ ...message, thinking: 'First the page, then…' }) as ModelMessage,
      'm-1',
    ],
    [
      'no tool call',
      (message) => ({ ...message, replay: { sdk: 'ai', model: 'm-1', parts: [] } }) as ModelMessage,
      'm-1',
    ],
  ])('is not given to %s: the model is shown text and calls alone', async (what, change, second) => {
    const content = await shownAgain(interleaved, change, second);
    if (what.startsWith('a text'))
      return expect(content).toContainEqual(expect.objectContaining({ text: 'I did.!' }));
    expect(content).toEqual([{ type: 'text', text: 'I read.', providerOptions: undefined }, call('c1')]);
  });
});
