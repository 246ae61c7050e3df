import { sampleEvents } from '@hansard/testing';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { traceDispatches } from '../src/index.ts';
import { spanIdOf, traceIdOf } from '../src/spans/identity.ts';
import type { ReceivedSpan } from './decode-otlp.ts';
import { exported, only, textOf } from './exported.ts';
import { childId, envelope, event, nanos, oneDispatch, parentId, sampleRun } from './sample-run.ts';

/** Agents and a dispatch that live on after the calls that began them. */
const outliving: typeof sampleRun = (() => {
  const call = (toolCallId: string, tool: string) => ({ toolCallId, tool, metadata: {} });
  const done = (toolCallId: string, tool: string, metadata = {}) => ({
    ...{ toolCallId, tool, metadata },
    status: 'completed' as const,
  });
  const [jack, jill] = [{ agentId: 'jack' }, { agentId: 'jill' }];
  const ofParent = [
    event('e1', 10, 'agent:created', {}, { agentId: 'lead' }),
    event('e2', 20, 'agent:tool_call', call('c1', 'create_agent'), { agentId: 'lead' }),
    event('e3', 30, 'agent:created', { name: 'Jack' }, { ...jack, cause: 'e2' }),
    event('e4', 40, 'agent:tool_result', done('c1', 'create_agent'), { agentId: 'lead' }),
    event('e5', 50, 'agent:text', { text: 'Here.' }, { ...jack, messageId: 'm1' }),
    event('e6', 60, 'agent:created', { name: 'Jill', languageModel: 'late' }, { ...jill, cause: 'e2' }),
    event('e7', 70, 'agent:terminated', {}, jill),
    event('e8', 90, 'agent:text', { text: 'Late.' }, { ...jill, messageId: 'm2' }),
    event('e9', 91, 'agent:tool_call', call('c2', 'dispatch'), { agentId: 'lead' }),
    event('e10', 95, 'agent:tool_result', done('c2', 'dispatch', { dispatchId: childId }), {
      agentId: 'lead',
    }),
    event('e11', 99, 'agent:tool_call', call('c3', 'Bash'), jack),
    event('e12', 120, 'agent:text', { text: 'Over.' }, { agentId: 'lead', messageId: 'm3' }),
  ];
  return {
    ...sampleRun,
    envelopes: [
      envelope(parentId, { completedAt: new Date(Number(nanos(100) / 1_000_000n)).toISOString() }),
      envelope(childId, { role: 'worker', parentDispatchId: parentId }),
    ],
    async *readEvents(dispatchId: string) {
      if (dispatchId === parentId) yield* ofParent;
    },
  };
})();

describe('spans of dispatches', () => {
  it('form one tree: a dispatch, its model calls, tools and agents, and the dispatch that a tool call started', async () => {
    const { spans } = await exported(sampleRun);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const tree = spans.map(({ name, parentSpanId }) => [name, byId.get(parentSpanId ?? '')?.name ?? null]);
    expect(tree).toEqual([
      ['chat claude-test-1', 'invoke_agent lead'],
      ['create_agent Jack', 'execute_tool create_agent'],
      ['chat gpt-test', 'invoke_agent Jack'],
      ['execute_hook limits', 'execute_tool create_agent'],
      ['execute_tool create_agent', 'invoke_agent lead'],
      ['execute_tool dispatch', 'invoke_agent lead'],
      ['chat claude-test-1', 'invoke_agent lead'],
      ['invoke_agent Jack', 'execute_tool create_agent'],
      ['invoke_agent lead', null],
      ['chat claude-test-1', 'invoke_agent worker'],
      ['chat claude-test-1', 'invoke_agent worker'],
      ['execute_tool Bash', 'invoke_agent worker'],
      ['invoke_agent worker', 'execute_tool dispatch'],
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(parentId)]));
    expect(byId.size).toBe(spans.length);
  });

  it('begin and end at the recorded times; a missing end is marked', async () => {
    const { spans } = await exported(sampleRun);
    const [chat] = spans;
    expect([chat?.start, chat?.end]).toEqual([nanos(200), nanos(1_000)]);
    const tool = only(spans, 'execute_tool create_agent');
    expect([tool.start, tool.end]).toEqual([nanos(950), nanos(2_000)]);
    const cut = only(spans, 'execute_tool Bash');
    expect([cut.start, cut.end, cut.attributes['hansard.truncated']]).toEqual([
      nanos(3_100),
      nanos(3_100),
      true,
    ]);
    const worker = only(spans, 'invoke_agent worker');
    expect([worker.end, worker.attributes['hansard.truncated']]).toEqual([nanos(3_100), true]);
    expect(only(spans, 'invoke_agent lead').attributes['hansard.truncated']).toBeUndefined();
  });

  it('never end before they begin, even if the clock goes back', async () => {
    const call = { toolCallId: 'k', tool: 'Bash', metadata: {} };
    const { spans } = await exported(
      oneDispatch([
        event('c', 500, 'agent:tool_call', call),
        event('r', 100, 'agent:tool_result', { ...call, status: 'completed' }),
      ]),
    );
    const tool = only(spans, 'execute_tool Bash');
    expect([tool.start, tool.end]).toEqual([nanos(500), nanos(500)]);
  });

  it('end within the span that they are below; what outlives it is below the nearest span that does not end before, with a link to it', async () => {
    const { spans } = await exported(outliving);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    for (const { name, end, parentSpanId } of spans)
      expect(end <= (byId.get(parentSpanId ?? '')?.end ?? end), name).toBe(true);
    const below = (name: string) => {
      const { parentSpanId, links } = only(spans, name);
      const link = links.find(({ attributes }) => attributes['hansard.link'] === 'parent');
      return [byId.get(parentSpanId ?? '')?.name ?? null, byId.get(link?.spanId ?? '')?.name ?? null];
    };
    // Jack lives on after the call that created him, and so does the worker after its dispatch.
    expect(below('invoke_agent Jack')).toEqual(['invoke_agent lead', 'execute_tool create_agent']);
    expect(below('invoke_agent worker')).toEqual([null, 'execute_tool dispatch']);
    // Jill ended before her last answer arrived.
    expect(below('chat late')).toEqual(['invoke_agent lead', 'invoke_agent Jill']);
    expect(below('execute_tool create_agent')).toEqual(['invoke_agent lead', null]);
  });

  it.each([
    ['/srv/shop/agents/tidy.md', ''],
    ['C:\\agents\\tidy', ''],
    ['https://example.com/agents?token=abc', ''],
    ['~/agents/tidy', ''],
    ['runs ./tidy.sh now', ''],
    ['agents/tidy.md', ''],
    ['model:/srv/x', ''],
    ['tidy', ' tidy'],
    ['front/back', ' front/back'],
    ['vendor/model-4.1', ' vendor/model-4.1'],
    ['PreToolUse:Bash', ' PreToolUse:Bash'],
  ])('are never named by a path or an address, which only attributes have: %s', async (role, subject) => {
    const { spans } = await exported(oneDispatch([], { role }));
    expect(only(spans, `invoke_agent${subject}`).attributes['gen_ai.agent.name']).toBe(role);
  });

  it('have the project in the id of their session, because tasks of two projects can have one name', async () => {
    const source = oneDispatch([]);
    const sessions = ['lab/tasks/cafe', 'home/tasks/cafe'].map(async (taskDir) => {
      const { spans } = await exported({ ...source, taskDir });
      return spans[0]?.attributes['session.id'];
    });
    expect(await Promise.all(sessions)).toEqual(['lab/cafe', 'home/cafe']);
  });

  it('count usage and cost only on model calls, with cached tokens as input', async () => {
    const { spans } = await exported(sampleRun);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.response.finish_reasons': ['tool_use'],
      'gen_ai.usage.input_tokens': 42,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'gen_ai.usage.cache_creation.input_tokens': 2,
      'gen_ai.usage.output_tokens': 5,
      'hansard.cost_usd': 0.02,
    });
    const counted = spans.filter(({ attributes }) =>
      Object.keys(attributes).some((name) => name.startsWith('gen_ai.usage.') || name === 'hansard.cost_usd'),
    );
    expect(counted.map(({ name }) => name)).toEqual([
      'chat claude-test-1',
      'chat gpt-test',
      'chat claude-test-1',
    ]);
    expect(only(spans, 'invoke_agent lead').attributes).toMatchObject({
      'hansard.dispatch.cost_usd': 0.5,
      'hansard.dispatch.usage.input_tokens': 100,
    });
  });

  it('link a delivery to the call that produced it, and new content to its cause', async () => {
    const { spans } = await exported(sampleRun);
    const byId = new Map(spans.map((span) => [span.spanId, span.name]));
    const links = spans.flatMap((span) =>
      span.links.map(({ spanId, attributes }) => [
        span.name,
        attributes['hansard.link'],
        attributes['hansard.event.id'],
        byId.get(spanId),
      ]),
    );
    expect(links).toEqual([
      ['create_agent Jack', 'cause', 'c1', 'execute_tool create_agent'],
      ['chat gpt-test', 'substance', 't1', 'chat claude-test-1'],
      ['execute_tool create_agent', 'substance', 't2', 'chat gpt-test'],
      ['chat claude-test-1', 'cause', 'c2', 'execute_tool dispatch'],
    ]);
  });

  it('report failed tools, and dispatches that were aborted or crashed', async () => {
    const { spans } = await exported(sampleRun);
    expect(only(spans, 'execute_tool dispatch')).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'tool_error' },
    });
    expect(only(spans, 'invoke_agent worker')).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'crashed', 'hansard.dispatch.status': 'crashed' },
    });
    expect(only(spans, 'invoke_agent lead').status).toEqual({ code: 0 });
    const aborted = await exported(oneDispatch([], { status: 'aborted' }));
    expect(only(aborted.spans, 'invoke_agent lead').attributes['error.type']).toBe('aborted');
  });

  it('are written while the log is read, each span as soon as it is over', async () => {
    let read = 0;
    const source = oneDispatch([]);
    const records = traceDispatches({
      ...source,
      async *readEvents() {
        for (; read < 1_000; ) {
          read += 1;
          const call = { toolCallId: 'k', tool: 'Bash', metadata: {} };
          yield read % 2 === 1
            ? event(`e${read}`, read, 'agent:tool_call', call)
            : event(`e${read}`, read, 'agent:tool_result', { ...call, status: 'completed' });
        }
      },
    });
    const first = await records.next();
    expect(first.value?.kind).toBe('span');
    expect(read).toBe(2);
    await records.return(undefined);
  });
});

describe('ids', () => {
  it('are the bits of ULIDs: 128 of the root dispatch, the low 64 of the event', () => {
    expect(traceIdOf('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe('01563e3ab5d3d6764c61efb99302bd5b');
    expect(spanIdOf('d', '01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe('4c61efb99302bd5b');
  });

  it('of other ids, and of ULIDs whose bits are zero, are hashes; imported ids differ by dispatch', () => {
    const zero = '0'.repeat(26);
    for (const id of [traceIdOf('msg_017'), traceIdOf(zero)]) expect(id).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    for (const id of [spanIdOf('a', 'msg_017'), spanIdOf('a', zero)])
      expect(id).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
    expect(spanIdOf('a', 'msg_017')).not.toBe(spanIdOf('b', 'msg_017'));
    expect(spanIdOf('a', 'msg_017')).toBe(spanIdOf('a', 'msg_017'));
  });

  it('give a second export the same bytes', async () => {
    expect(await textOf(sampleRun, { content: 'spans' })).toBe(await textOf(sampleRun, { content: 'spans' }));
  });
});

describe('log records', () => {
  it('record events that are not spans: deliveries, compactions, limits, interventions', async () => {
    const { logs, spans } = await exported(sampleRun);
    expect(logs.map(({ name }) => name)).toEqual([
      'hansard.message.received',
      'hansard.message.delivered',
      'hansard.session.compaction',
      'hansard.message.delivered',
    ]);
    expect(logs[1]?.attributes).toMatchObject({
      'hansard.substance.id': 't1',
      'gen_ai.agent.id': 'agent_002',
      'log.record.uid': `${parentId}:u2`,
    });
    expect(logs[2]?.attributes).toMatchObject({ 'hansard.compaction.tokens_before': 9 });
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(logs.every(({ spanId }) => ids.has(spanId))).toBe(true);
  });

  it('keep events of an unknown type, with all data if content and thoughts were requested', async () => {
    const unknown = { ...event('g1', 5, 'session:status', { who: 'Ann' }), type: 'game:death' as const };
    const { logs } = await exported(oneDispatch([unknown]), { content: 'events', reasoning: true });
    expect(logs).toMatchObject([
      { name: 'hansard.event', attributes: { 'hansard.event.type': 'game:death' }, body: { who: 'Ann' } },
    ]);
    const without = await exported(oneDispatch([unknown]), { content: 'events' });
    expect(without.logs).toMatchObject([{ name: 'hansard.event', body: null }]);
  });
});

describe('content', () => {
  const planted = Object.values(sampleEvents).map(plantCanaries);
  const unknown = plantCanaries({
    ...event('g1', 5, 'session:status', { who: 'x' }),
    type: 'game:death' as const,
  });
  const source = oneDispatch([...planted, unknown], { cwd: '/canary', structuredResult: { a: 'canary' } });

  it('is not exported unless requested: no text of any event of any type is in the bytes', async () => {
    const planting = JSON.stringify([...planted, unknown]);
    expect(planting.match(/canary/g)?.length).toBeGreaterThan(40);
    expect(await textOf(source)).not.toContain('canary');
    expect(await textOf(source, { content: 'none', reasoning: true })).not.toContain('canary');
  });

  it('is written to log records or spans as parts; thoughts only on request', async () => {
    for (const content of ['events', 'spans'] as const) {
      const without = await textOf(source, { content });
      expect(without).toContain('canary agent:text text');
      expect(without).toContain('canary agent:tool_call command');
      expect(without).not.toContain('canary agent:thinking');
      expect(await textOf(source, { content, reasoning: true })).toContain('canary agent:thinking text');
    }
    const { spans, logs } = await exported(sampleRun, { content: 'spans' });
    const output = JSON.parse(String(spans[0]?.attributes['gen_ai.output.messages']));
    expect(output).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'I ask Jack.' },
          { type: 'tool_call', id: 'k1', name: 'create_agent', arguments: { name: 'Jack' } },
        ],
        finish_reason: 'tool_call',
      },
    ]);
    expect(JSON.parse(String(spans[6]?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'k1', response: 'Here I am.' }] },
    ]);
    expect(only(spans, 'execute_tool create_agent').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"name":"Jack"}',
      'gen_ai.tool.call.result': '"Here I am."',
    });
    expect(logs.some(({ name }) => name.startsWith('gen_ai.'))).toBe(false);
    const onEvents = await exported(sampleRun, { content: 'events' });
    const details = onEvents.logs.find(({ name }) => name === 'gen_ai.client.inference.operation.details');
    expect(details?.attributes['gen_ai.output.messages']).toEqual(output);
    expect(details?.spanId).toBe(onEvents.spans[0]?.spanId);
    expect(onEvents.spans[0]?.attributes['gen_ai.output.messages']).toBeUndefined();
    expect(
      JSON.stringify((await exported(source, { content: 'events' })).spans.map(withoutTimes)),
    ).not.toContain('canary');
  });

  it('is cut at 64 kB at a whole character, with the number of missing bytes', async () => {
    const long = oneDispatch([event('t', 1, 'agent:text', { text: `a${'é'.repeat(40_000)}` })]);
    const { spans } = await exported(long, { content: 'spans' });
    const [chat] = spans;
    const [message] = JSON.parse(String(chat?.attributes['gen_ai.output.messages']));
    expect(message.parts[0].content).toBe(`a${'é'.repeat(32_767)}`);
    expect(chat?.attributes['hansard.truncated_bytes']).toBe(80_001 - 65_535);
  });
});

describe('names', () => {
  it('are those of the conventions, without deprecated ones, or our own', async () => {
    const known = new Set<unknown>(Object.values(conventions));
    const givenUp = ['gen_ai.system', 'gen_ai.prompt', 'gen_ai.completion'];
    const all = oneDispatch(Object.values(sampleEvents));
    for (const content of ['none', 'events', 'spans'] as const) {
      for (const run of [sampleRun, all]) {
        const { spans, logs } = await exported(run, { content, reasoning: true });
        const names = [...spans, ...logs].flatMap(({ attributes }) => Object.keys(attributes));
        expect(names.length).toBeGreaterThan(100);
        expect(names.filter((name) => !known.has(name) && !name.startsWith('hansard.'))).toEqual([]);
        expect(names.filter((name) => givenUp.includes(name))).toEqual([]);
        const logNames = logs.map(({ name }) => name);
        expect(logNames.filter((name) => !known.has(name) && !name.startsWith('hansard.'))).toEqual([]);
      }
    }
  });
});

/** JSON numbers do not hold 64 bits. */
function withoutTimes({ start: _start, end: _end, ...rest }: ReceivedSpan) {
  return rest;
}

/** Fields that are names, numbers or kinds by their schema: they may leave the log. */
const openFields = new Set([
  'toolCallId',
  'tool',
  'model',
  'languageModel',
  'name',
  'agentId',
  'dispatchId',
  'kind',
  'status',
  'decision',
  'sessionId',
  'trigger',
  'hook',
  'on',
  'stopReason',
  'subject',
  'keptFrom',
  'code',
]);

/** The event with a canary in each content text of its data, including absent optional fields. */
function plantCanaries<T extends { type: string; data: object }>(original: T): T {
  const plant = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') return `canary ${original.type} ${path}`;
    if (Array.isArray(value)) return value.map((item, index) => plant(item, `${path} ${index}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        openFields.has(key) && typeof item === 'string' && isTyped(original.type) ? item : plant(item, key),
      ]),
    );
  };
  const data = plant(original.data, '') as Record<string, unknown>;
  const more: Record<string, object> = {
    'agent:tool_result': { error: 'canary error', status: 'error' },
    'session:complete': { reason: 'canary', errors: ['canary'] },
    'harness:hook_decision': { input: { path: 'canary' }, given: 'canary', text: 'canary' },
  };
  return { ...original, data: { ...data, ...more[original.type] } };
}

/** In captured data of sources, every field is content. */
function isTyped(type: string): boolean {
  return (
    !type.startsWith('system:') && !type.startsWith('game:') && !/^session:(status|rate_limit)$/.test(type)
  );
}

describe('the request of a call', () => {
  const tools = [{ name: 'look', description: 'Looks at a secret.', inputSchema: { type: 'object' } }];
  const parameters = {
    temperature: 0.2,
    topP: 1,
    maxOutputTokens: 9,
    stopSequences: ['END'],
    instructions: 'secret',
  };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const call = { agentId: 'agent_001', messageId: 'm1' };
  const events = [
    { ...event('p1', 0, 'request:stored', { tools }), timestamp: null },
    { ...event('p2', 0, 'request:stored', { parameters }), timestamp: null },
    event('t1', 10, 'agent:text', { text: 'Yes.' }, call),
    event(
      'i1',
      20,
      'agent:inference',
      { model: 'm', usage, request: { tools: 'p1', parameters: 'p2' } },
      call,
    ),
    event('t2', 30, 'agent:text', { text: 'No.' }, { ...call, messageId: 'm2' }),
    event(
      'i2',
      40,
      'agent:inference',
      { model: 'm', usage, request: { tools: null } },
      { ...call, messageId: 'm2' },
    ),
  ];
  const ofChats = async (content: 'none' | 'spans') => {
    const { spans } = await exported(oneDispatch(events), { content });
    return spans
      .filter(({ name }) => name === 'chat m')
      .map(({ attributes }) =>
        Object.fromEntries(
          Object.entries(attributes).filter(([name]) => /^gen_ai\.(request|tool)\.(?!model)/.test(name)),
        ),
      );
  };
  const figures = {
    'gen_ai.request.temperature': 0.2,
    'gen_ai.request.top_p': 1,
    'gen_ai.request.max_tokens': 9,
  };

  it('is on its span: numbers always, the tools and stop sequences with content', async () => {
    expect(await ofChats('none')).toEqual([figures, {}]);
    const definitions = [
      { type: 'function', name: 'look', description: 'Looks at a secret.', parameters: { type: 'object' } },
    ];
    expect(await ofChats('spans')).toEqual([
      {
        ...figures,
        'gen_ai.request.stop_sequences': ['END'],
        'gen_ai.tool.definitions': JSON.stringify(definitions),
      },
      {},
    ]);
    expect(await textOf(oneDispatch(events), { content: 'none' })).not.toContain('secret');
  });
});
