import type { JsonObject } from '@hansard/events';
import type { Delta } from '@hansard/provider';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import type { AiSdkSettings } from '../src/create-ai-sdk-model.ts';
import { createAiSdkModel } from '../src/index.ts';
import {
  type CallOptions,
  finish,
  mockModel,
  request,
  type StreamPart,
  streamOf,
  textParts,
} from './reply.ts';

const settings = { maxRetries: 0 };

const tools = [
  {
    name: 'task',
    description: 'Creates a sub-agent.',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
];

const generate = (parts: readonly StreamPart[], rest = {}) =>
  Promise.resolve(createAiSdkModel({ model: mockModel(parts), settings }).generate(request(rest)));

describe('an answer', () => {
  it('is the text, with model, usage and why it ended; cached tokens are counted apart', async () => {
    expect(await generate([...textParts('Hello', ' you.'), finish()])).toEqual({
      text: 'Hello you.',
      toolCalls: [],
      model: 'mock-1',
      usage: { inputTokens: 20, outputTokens: 7, cacheReadTokens: 90, cacheWriteTokens: 10 },
      stopReason: 'stop',
      sent: { parameters: {} },
    });
  });

  it('has the parts of the usage that decide its price, as far as the vendor states them', async () => {
    const inputTokens = { total: 100, noCache: 10, cacheRead: 20, cacheWrite: 70 };
    const outputTokens = { total: 9, text: 4, reasoning: 5 };
    const usageOf = async (raw: JsonObject) => {
      const usage = { inputTokens, outputTokens, raw };
      const end = { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage } as const;
      return (await generate([...textParts('Hello.'), end])).usage;
    };
    const tokens = {
      inputTokens: 10,
      outputTokens: 9,
      cacheReadTokens: 20,
      cacheWriteTokens: 70,
      reasoningTokens: 5,
    };
    expect(
      await usageOf({
        cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 40 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
        speed: 'fast',
        service_tier: 'batch',
        inference_geo: 'us',
      }),
    ).toEqual({
      ...tokens,
      cacheWrite5mTokens: 30,
      cacheWrite1hTokens: 40,
      webSearchRequests: 2,
      webFetchRequests: 1,
      speed: 'fast',
      serviceTier: 'batch',
      inferenceGeo: 'us',
    });
    expect(
      await usageOf({
        cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: -4 },
        server_tool_use: { web_search_requests: 1.5, web_fetch_requests: '1' },
        speed: 7,
        service_tier: 'x'.repeat(99),
        inference_geo: '',
      }),
    ).toEqual(tokens);
  });

  it('names the model that the vendor says has answered', async () => {
    const parts: StreamPart[] = [
      { type: 'response-metadata', modelId: 'mock-1-2026' },
      ...textParts('Hello.'),
      finish('length'),
    ];
    expect(await generate(parts)).toMatchObject({ model: 'mock-1-2026', stopReason: 'length' });
  });

  it('counts no tokens where the vendor says nothing of them', async () => {
    const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const usage = {
      inputTokens: none,
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
    const parts: StreamPart[] = [
      ...textParts('Hello.'),
      { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
    ];
    expect((await generate(parts)).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  it('holds the tool calls beside the text; none of them was made', async () => {
    const response = await generate(
      [
        ...textParts('I will.'),
        { type: 'tool-call', toolCallId: 'c1', toolName: 'task', input: '{"name":"Jack"}' },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'task', input: '{"name":"Jill"}' },
        finish('tool-calls'),
      ],
      { tools },
    );
    expect(response).toMatchObject({
      text: 'I will.',
      toolCalls: [
        { toolCallId: 'c1', tool: 'task', input: { name: 'Jack' } },
        { toolCallId: 'c2', tool: 'task', input: { name: 'Jill' } },
      ],
      stopReason: 'tool-calls',
    });
  });

  it('keeps a call of an unknown tool, and one with broken input, for the session to answer', async () => {
    const { toolCalls } = await generate(
      [
        { type: 'tool-call', toolCallId: 'c1', toolName: 'shout', input: '{}' },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'task', input: '{"name":' },
        finish('tool-calls'),
      ],
      { tools },
    );
    expect(toolCalls).toEqual([
      { toolCallId: 'c1', tool: 'shout', input: {} },
      { toolCallId: 'c2', tool: 'task', input: '{"name":' },
    ]);
  });

  it('leaves out calls that the vendor has made itself', async () => {
    const { toolCalls } = await generate([
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'web',
        input: '{}',
        providerExecuted: true,
        dynamic: true,
      },
      ...textParts('It rains.'),
      finish(),
    ]);
    expect(toolCalls).toEqual([]);
  });

  it('has the thoughts with the signature of the vendor', async () => {
    const parts: StreamPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Be nice.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { vendor: { signature: 'abc' } } },
      ...textParts('Hello.'),
      finish(),
    ];
    expect(await generate(parts)).toMatchObject({
      text: 'Hello.',
      thinking: { text: 'Be nice.', signature: 'abc' },
    });
  });

  it('is streamed while it is made: text, thoughts and the input of tool calls', async () => {
    const deltas: Delta[] = [];
    await generate(
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r' },
        ...textParts('I', ' will.'),
        { type: 'tool-input-start', id: 'c1', toolName: 'task' },
        { type: 'tool-input-delta', id: 'c1', delta: '{"name":"Jack"}' },
        { type: 'tool-input-end', id: 'c1' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'task', input: '{"name":"Jack"}' },
        finish('tool-calls'),
      ],
      { tools, onDelta: (delta: Delta) => deltas.push(delta) },
    );
    const agentId = 'agent_001';
    expect(deltas).toEqual([
      { type: 'delta:thinking', text: 'Hm.', agentId },
      { type: 'delta:text', text: 'I', agentId },
      { type: 'delta:text', text: ' will.', agentId },
      { type: 'delta:tool_input', text: '{"name":"Jack"}', toolCallId: 'c1', agentId },
    ]);
  });
});

describe('what the model is shown', () => {
  it('has the files of a message after its text', async () => {
    const model = mockModel([...textParts('A map.'), finish()]);
    const files = [{ kind: 'image' as const, mediaType: 'image/png', base64: 'AQIDBA==' }];
    await createAiSdkModel({ model, settings }).generate(
      request({ messages: [{ role: 'user', text: 'What is it?', files }] }),
    );
    const [shown] = model.doStreamCalls[0]?.prompt ?? [];
    expect(shown).toMatchObject({
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'file', mediaType: 'image/png' },
      ],
    });
    expect(JSON.stringify(shown)).toContain('AQIDBA==');
  });

  it('is the whole transcript and the tools', async () => {
    const model = mockModel([...textParts('Hello.'), finish()]);
    await createAiSdkModel({ model, settings: { ...settings, temperature: 0.5 } }).generate(
      request({
        tools,
        messages: [
          { role: 'system', text: 'You are root.' },
          { role: 'user', text: 'Create Jack and Jill.' },
          {
            role: 'assistant',
            text: '',
            toolCalls: [{ toolCallId: 'c1', tool: 'task', input: { name: 'Jack' } }],
          },
          { role: 'tool', toolCallId: 'c1', tool: 'task', text: 'Created subagent: Jack', isError: false },
          {
            role: 'assistant',
            text: 'Now Jill.',
            toolCalls: [{ toolCallId: 'c2', tool: 'task', input: { name: 'Jill' } }],
          },
          { role: 'tool', toolCallId: 'c2', tool: 'task', text: 'Maximum reached.', isError: true },
          { role: 'assistant', text: 'Only Jack, then.', toolCalls: [] },
          { role: 'user', text: 'Fine.' },
        ],
      }),
    );
    const [call] = model.doStreamCalls;
    expect(call?.temperature).toBe(0.5);
    expect(call?.tools).toMatchObject([
      {
        type: 'function',
        name: 'task',
        description: 'Creates a sub-agent.',
        inputSchema: tools[0]?.inputSchema,
      },
    ]);
    expect(call?.prompt).toMatchObject([
      { role: 'system', content: 'You are root.' },
      { role: 'user', content: [{ type: 'text', text: 'Create Jack and Jill.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'task', input: { name: 'Jack' } }],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'c1', toolName: 'task', output: { type: 'text', value: 'Created subagent: Jack' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Now Jill.' },
          { type: 'tool-call', toolCallId: 'c2' },
        ],
      },
      {
        role: 'tool',
        content: [{ toolCallId: 'c2', output: { type: 'error-text', value: 'Maximum reached.' } }],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Only Jack, then.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Fine.' }] },
    ]);
  });

  it('goes to the model that the name of the agent stands for', async () => {
    const asked: (string | null)[] = [];
    const provider = createAiSdkModel({
      settings,
      resolve: async (name) => {
        asked.push(name);
        return mockModel([...textParts('Hello.'), finish()], `vendor/${name}`);
      },
    });
    expect(await provider.generate(request({ model: 'small' }))).toMatchObject({ model: 'vendor/small' });
    await provider.generate(request());
    expect(asked).toEqual(['small', null]);
  });
});

describe('a failure', () => {
  it('before the first word is the error of the SDK', async () => {
    const failure = new Error('401 no such key');
    const model = new MockLanguageModelV4({ doStream: () => Promise.reject(failure) });
    const answer = Promise.resolve(createAiSdkModel({ model, settings }).generate(request()));
    await expect(answer).rejects.toBe(failure);
  });

  it('in the middle of an answer is thrown, and the partial answer is dropped', async () => {
    const failure = new Error('overloaded');
    await expect(
      generate([
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Hel' },
        { type: 'error', error: failure },
      ]),
    ).rejects.toBe(failure);
  });

  it('that a vendor reports as plain data becomes an error with that data', async () => {
    await expect(generate([{ type: 'error', error: { type: 'overloaded' } }])).rejects.toThrow(
      'The model failed: {"type":"overloaded"}',
    );
  });

  it('is what an answer without anything in it is', async () => {
    await expect(generate([])).rejects.toThrow(/no output/i);
  });

  it('of the resolver is thrown', async () => {
    const provider = createAiSdkModel({
      resolve: (name) => {
        throw new Error(`no model ${name}`);
      },
    });
    await expect(Promise.resolve(provider.generate(request({ model: 'x' })))).rejects.toThrow('no model x');
  });
});

describe('an abort', () => {
  it('reaches the model, and its reason is thrown', async () => {
    const cancel = new AbortController();
    const cancelled = new Error('cancelled by Ann');
    const model = new MockLanguageModelV4({
      doStream: ({ abortSignal }) =>
        new Promise((_answer, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
          cancel.abort(cancelled);
        }),
    });
    const answer = Promise.resolve(
      createAiSdkModel({ model, settings }).generate(request({ signal: cancel.signal })),
    );
    await expect(answer).rejects.toBe(cancelled);
  });

  it('in the middle of an answer ends it', async () => {
    const cancel = new AbortController();
    const cancelled = new Error('cancelled by Ann');
    const answer = generate([...textParts('Hel', 'lo.'), finish()], {
      signal: cancel.signal,
      onDelta: () => cancel.abort(cancelled),
    });
    await expect(answer).rejects.toBe(cancelled);
  });

  it('from before makes no call', async () => {
    const model = new MockLanguageModelV4({
      doStream: async () => streamOf(...textParts('Hello.'), finish()),
    });
    const signal = AbortSignal.abort(new Error('cancelled'));
    const answer = Promise.resolve(createAiSdkModel({ model }).generate(request({ signal })));
    await expect(answer).rejects.toThrow('cancelled');
    expect(model.doStreamCalls).toEqual([]);
  });
});

describe('what the answer says was sent', () => {
  const two = ['task', 'look'].map((name) => ({ ...tools[0], name })) as typeof tools;

  /** What the model of the SDK received: the oracle. */
  const received = (mock: MockLanguageModelV4) => {
    const {
      prompt,
      abortSignal,
      headers,
      includeRawChunks,
      tools: given,
      ...parameters
    } = mock.doStreamCalls[0] ?? ({} as CallOptions);
    const present = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return { names: given?.map(({ name }) => name) ?? [], parameters: Object.fromEntries(present) };
  };

  it.each<[string, AiSdkSettings, readonly string[]]>([
    ['no settings', {}, ['task', 'look']],
    ['sampling', { temperature: 0.2, topP: 1, topK: 4, seed: 7, stopSequences: ['END'] }, ['task', 'look']],
    [
      'a limit and penalties',
      { maxOutputTokens: 9, presencePenalty: 1, frequencyPenalty: 0.5 },
      ['task', 'look'],
    ],
    ['options of the vendor', { providerOptions: { vendor: { effort: 'high' } } }, ['task', 'look']],
    ['active tools', { activeTools: ['look'] }, ['look']],
    [
      'a step that is prepared',
      { temperature: 1, prepareStep: () => ({ temperature: 0.5, activeTools: ['task'] }) },
      ['task'],
    ],
    ['a header', { headers: { authorization: 'secret' }, maxRetries: 0 }, ['task', 'look']],
  ])('is what the model received, with %s', async (_, given, names) => {
    const mock = mockModel([...textParts('Hello.'), finish()]);
    const { sent } = await createAiSdkModel({ model: mock, settings: given }).generate(
      request({ tools: two }),
    );
    const { names: shown, parameters } = received(mock);
    expect((sent?.tools ?? two).map(({ name }) => name)).toEqual(shown);
    expect(shown).toEqual(names);
    // The SDK adds its default choice.
    expect({ toolChoice: { type: 'auto' }, ...sent?.parameters }).toEqual(parameters);
    expect(JSON.stringify(sent)).not.toContain('secret');
  });

  it('leaves the callbacks of the settings alone', async () => {
    const called: string[] = [];
    const given: AiSdkSettings = {
      onStepStart: () => void called.push('step'),
      onLanguageModelCallStart: () => void called.push('call'),
    };
    const mock = mockModel([...textParts('Hello.'), finish()]);
    await createAiSdkModel({ model: mock, settings: given }).generate(request());
    expect(called.sort()).toEqual(['call', 'step']);
  });
});
