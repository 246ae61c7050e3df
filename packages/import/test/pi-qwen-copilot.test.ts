import { copiedEvents, openDispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const time = (second: number) => `2026-03-01T09:30:${String(second).padStart(2, '0')}.000Z`;

async function imported(folder: LogFolder, store = openDispatchStore(createMemoryStore())) {
  const items = await importAll(store, [folder.path], { prices: false });
  const found = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) throw listed.error;
    const { taskDir, dispatchId, envelope } = listed;
    found.push({ envelope, dispatchId, events: await store.getDispatchEvents(taskDir, dispatchId) });
  }
  return { items, found, store };
}

const results = (events: readonly CapturedEvent[] = []) =>
  events.filter(({ type }) => type === 'agent:tool_result').map(({ data }) => [data.status, data.metadata]);

const usage = {
  input: 900,
  output: 10,
  cacheRead: 100,
  cacheWrite: 0,
  totalTokens: 1_010,
  cost: { total: 0.5 },
};
let second = 0;
const entry = (id: string, parentId: string | null, message: object) => {
  second += 1;
  return { type: 'message', id, parentId, timestamp: time(second), message };
};
const said = (text: string) => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  model: 'm-1',
  usage,
  stopReason: 'stop',
});
const asked = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

it('a session of pi that goes back in its tree says so, and all its branches count', async () => {
  using folder = new LogFolder();
  const header = { type: 'session', version: 3, id: 's-1', timestamp: time(0), cwd: '/srv/shop' };
  const tree = [
    entry('a', null, asked('One?')),
    entry('b', 'a', said('One.')),
    entry('c', 'b', asked('Two?')),
    entry('d', 'c', said('Two.')),
    entry('e', 'b', asked('Three?')),
    entry('f', 'e', said('Three.')),
  ];
  folder.put('s.jsonl', lines(header, ...tree));
  const {
    found: [session],
  } = await imported(folder);
  const texts = session?.events.flatMap(({ type, data }) =>
    type === 'session:rewind' ? ['rewind'] : (data.text ?? []),
  );
  expect(texts).toEqual(['One?', 'One.', 'Two?', 'Two.', 'rewind', 'Three?', 'Three.']);
  const [rewind] = session?.events.filter(({ type }) => type === 'session:rewind') ?? [];
  expect(session?.events.find(({ id }) => id === rewind?.data.keptThrough)?.data.text).toBe('One.');
  expect(session?.envelope).toMatchObject({ cost: 1.5, usage: { inputTokens: 2_700 } });
});

it('a fork of pi names its origin, and what it repeats counts once', async () => {
  using folder = new LogFolder();
  const header = {
    type: 'session',
    version: 3,
    id: 's-1',
    timestamp: '2026-03-01T09:30:00.000Z',
    cwd: '/srv/shop',
  };
  const head = [entry('a', null, asked('One?')), entry('b', 'a', said('One.'))];
  const origin = '/home/ann/.pi/agent/sessions/--srv-shop--/2026-03-01T09-30-00-000Z_s-1.jsonl';
  folder.put('2026-03-01T09-30-00-000Z_s-1.jsonl', lines(header, ...head));
  folder.put(
    'fork.jsonl',
    lines(
      { ...header, id: 's-2', timestamp: time(50), parentSession: origin },
      ...head,
      entry('c', 'b', asked('Two?')),
      entry('d', 'c', said('Two.')),
    ),
  );
  const { found, store } = await imported(folder);
  const fork = found.find(({ envelope }) => (envelope.forkedFrom ?? null) !== null);
  const first = found.find((one) => one !== fork);
  expect(fork?.envelope.forkedFrom?.from).toMatchObject({
    product: 'pi',
    sessionId: 's-1',
    dispatchId: first?.dispatchId,
  });
  expect(first?.envelope.usage).toMatchObject({ inputTokens: 900 });
  expect(await countedOnce(store)).toBe(1_800);
});

/** The input tokens of all sessions. What several of them have counts once. */
async function countedOnce(store: ReturnType<typeof openDispatchStore>): Promise<number> {
  let sum = 0;
  for await (const one of store.dispatches()) {
    if ('error' in one) throw one.error;
    const copies = await copiedEvents(store, one, one.envelope);
    for (const { id, type, data } of await store.getDispatchEvents(one.taskDir, one.dispatchId))
      if (type === 'agent:inference' && copies?.has(id) !== true)
        sum += (data.usage as { inputTokens: number }).inputTokens;
  }
  return sum;
}

it('a session of the first version of pi that a newer pi has written again comes in once', async () => {
  using folder = new LogFolder();
  const header = {
    type: 'session',
    id: 's-1',
    timestamp: time(0),
    cwd: '/srv/shop',
    provider: 'anthropic',
    modelId: 'm-1',
  };
  const old = [asked('One?'), said('One.')].map((message, at) => ({
    type: 'message',
    timestamp: time(at + 1),
    message,
  }));
  folder.put('s.jsonl', lines(header, ...old));
  const { store } = await imported(folder);
  const migrated = old.map((record, at) => ({
    ...record,
    id: `e${at}`,
    parentId: at === 0 ? null : `e${at - 1}`,
  }));
  folder.put('s.jsonl', lines({ ...header, version: 3 }, ...migrated));
  expect((await imported(folder, store)).items).toMatchObject([
    { kind: 'imported', added: 0, rewrittenCount: 0 },
  ]);
});

const record = (number: number, type: string, more: object) => ({
  uuid: `u-${number}`,
  parentUuid: number === 1 ? null : `u-${number - 1}`,
  sessionId: 's-1',
  timestamp: time(number),
  type,
  ...more,
});
const parts = (...list: object[]) => ({ message: { role: 'model', parts: list } });
const usageMetadata = {
  promptTokenCount: 1_000,
  candidatesTokenCount: 10,
  thoughtsTokenCount: 2,
  totalTokenCount: 1_010,
  cachedContentTokenCount: 100,
};
const telemetry = (more: object) => ({
  subtype: 'ui_telemetry',
  systemPayload: {
    uiEvent: {
      'event.name': 'qwen-code.api_response',
      model: 'm-1',
      input_token_count: 500,
      output_token_count: 5,
      total_token_count: 505,
      ...more,
    },
  },
});
const call = { functionCall: { id: 'c-1', name: 'run_shell_command', args: { command: 'npm test' } } };
const answer = {
  functionResponse: { id: 'c-1', name: 'run_shell_command', response: { output: '1 failed' } },
};

it('a session of Qwen Code counts each call once, also those of agents that the program runs; the exit code decides', async () => {
  using folder = new LogFolder();
  folder.put(
    's.jsonl',
    lines(
      record(1, 'user', { provenance: 'real_user', ...parts({ text: 'Run the tests.' }) }),
      record(2, 'system', telemetry({})),
      record(3, 'assistant', {
        model: 'm-1',
        usageMetadata,
        ...parts({ text: 'First the tests.', thought: true }, call),
      }),
      record(4, 'tool_result', {
        ...parts(answer),
        toolCallResult: {
          callId: 'c-1',
          status: 'success',
          resultDisplay: { type: 'shell_result', exitCode: 3 },
        },
      }),
      record(5, 'system', telemetry({ subagent_type: 'managed-auto-memory-extractor' })),
      record(6, 'assistant', { model: 'm-1', ...parts({ text: 'One' }) }),
    ),
  );
  const {
    found: [session],
    items,
  } = await imported(folder);
  expect(session?.envelope.usage).toEqual({
    inputTokens: 1_400,
    outputTokens: 15,
    cacheReadTokens: 100,
    reasoningTokens: 2,
  });
  expect(results(session?.events)).toEqual([['error', { exitCode: 3 }]]);
  expect(session?.envelope.status).toBe('crashed');
  expect(items).toMatchObject([{ counts: {} }]);
});

const event = (number: number, type: string, data: object, more: object = {}) => ({
  type,
  data,
  id: `e-${number}`,
  timestamp: time(number),
  parentId: number === 1 ? null : `e-${number - 1}`,
  ...more,
});
const request = { toolCallId: 'c-1', name: 'bash', arguments: { command: 'npm test' } };

it('a session of Copilot CLI has its sub-agent as an agent; the exit code decides; an abort ends it', async () => {
  using folder = new LogFolder();
  const used = {
    usage: {
      model: 'm-1',
      inputTokens: 1_000,
      outputTokens: 10,
      cacheReadTokens: 100,
      cacheWriteTokens: 0,
      apiCallId: 'api-1',
    },
  };
  const agent = { agentId: 'agent-1' };
  folder.put(
    'events.jsonl',
    lines(
      event(1, 'session.start', { sessionId: 's-1', selectedModel: 'm-1', context: { cwd: '/srv/shop' } }),
      event(2, 'user.message', { content: 'Run the tests.' }),
      event(3, 'session.usage_record', used),
      event(4, 'assistant.message', {
        messageId: 'm-1',
        content: 'I run them.',
        toolRequests: [request],
        apiCallId: 'api-1',
      }),
      event(5, 'tool.execution_start', { toolCallId: 'c-1', toolName: 'bash', arguments: request.arguments }),
      event(6, 'subagent.started', { toolCallId: 'c-1', agentName: 'tester', model: 'm-1' }, agent),
      event(7, 'user.message', { content: 'Look.', source: 'agent-s-1' }, agent),
      event(8, 'tool.execution_complete', {
        toolCallId: 'c-1',
        success: true,
        shellExecution: { exitCode: 3 },
        result: { content: '1 failed' },
      }),
      event(9, 'abort', { reason: 'user_abort' }),
      event(10, 'session.shutdown', { modelMetrics: { 'm-1': { usage: { inputTokens: 9_999 } } } }),
    ),
  );
  const {
    found: [session],
  } = await imported(folder);
  expect(session?.envelope).toMatchObject({
    status: 'aborted',
    usage: { inputTokens: 900, outputTokens: 10, cacheReadTokens: 100 },
  });
  expect(results(session?.events)).toEqual([['error', { exitCode: 3 }]]);
  expect(session?.events.filter(({ agentId }) => agentId === 'agent-1').map(({ type }) => type)).toEqual([
    'agent:created',
    'user:message',
  ]);
});
