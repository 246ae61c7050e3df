import { openDispatchStore } from '@hansard/dispatch';
import type { JsonObject, JsonValue } from '@hansard/events';
import { createMemoryStore } from '@hansard/store-memory';
import { describe, expect, it } from 'vitest';
import { importAll, LogFolder, lines } from './logs.ts';

const task = 'lab/tasks/hostile';
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const time = '2026-03-01T09:30:00.000Z';

/** Values that no field expects. Some are valid in some fields. */
const hostile: readonly JsonValue[] = [
  null,
  '',
  'two words / a slash',
  '\u0000\ud800\u2028é',
  'x'.repeat(300),
  '__proto__',
  'constructor',
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  true,
  [],
  [null, [1], { type: 'text' }],
  {},
  JSON.parse('{"__proto__": 1, "constructor": "x", "toString": null}'),
  { type: 'text', text: 7 },
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00.000Z',
];

const envelope = (fields: JsonObject): JsonObject => ({
  parentUuid: id(1),
  isSidechain: false,
  userType: 'external',
  cwd: '/srv/shop',
  sessionId: 'session-1',
  version: '2.1.260',
  gitBranch: 'main',
  timestamp: time,
  uuid: id(2),
  ...fields,
});
const usage = {
  input_tokens: 3,
  output_tokens: 5,
  cache_creation_input_tokens: 1,
  cache_read_input_tokens: 2,
  cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 0 },
  server_tool_use: { web_search_requests: 1 },
  service_tier: 'standard',
  speed: 'standard',
};
const model = (block: JsonObject): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  content: [{ type: 'thinking', thinking: 'Hm', signature: 's' }, block],
  stop_reason: 'end_turn',
  usage,
});
const result = {
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: [{ type: 'text', text: 'ok' }],
  is_error: true,
};
const call = { type: 'tool_use', id: 'toolu_1', name: 'Agent', input: { prompt: 'Go', description: 'd' } };

const transcriptRecords: readonly JsonObject[] = [
  envelope({
    type: 'user',
    message: { role: 'user', content: 'Hello' },
    origin: { kind: 'peer', from: 'bo' },
  }),
  envelope({
    type: 'user',
    message: {
      role: 'user',
      content: [
        { type: 'text', text: '<teammate-message teammate_id="a">x</teammate-message>' },
        { type: 'image', source: {} },
      ],
    },
    isMeta: false,
    promptSource: 'typed',
  }),
  envelope({
    type: 'user',
    message: { role: 'user', content: [result] },
    toolUseResult: { status: 'completed', agentId: 'a1', content: [{ type: 'text', text: 'x' }] },
    sourceToolUseID: 'toolu_1',
  }),
  envelope({
    type: 'assistant',
    message: model(call),
    requestId: 'r',
    agentId: 'a1',
    isApiErrorMessage: false,
  }),
  envelope({
    type: 'assistant',
    message: model({ type: 'text', text: 'Yes' }),
    isSidechain: true,
    agentId: 'a1',
  }),
  envelope({
    type: 'progress',
    data: { type: 'agent_progress', agentId: 'a1', hookEvent: 'Stop', message: {} },
    toolUseID: 't',
    parentToolUseID: 'toolu_1',
  }),
  envelope({
    type: 'attachment',
    attachment: {
      type: 'queued_command',
      prompt: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      commandMode: 'prompt',
      origin: { kind: 'human' },
    },
  }),
  envelope({
    type: 'attachment',
    attachment: { type: 'hook_success', hookEvent: 'Stop', content: 'x', toolUseID: 't' },
  }),
  envelope({
    type: 'system',
    subtype: 'compact_boundary',
    compactMetadata: { trigger: 'auto', preTokens: 9, postTokens: 3, preservedSegment: { headUuid: id(1) } },
    logicalParentUuid: id(1),
  }),
  envelope({
    type: 'system',
    subtype: 'microcompact_boundary',
    microcompactMetadata: { trigger: 'auto', preTokens: 9 },
  }),
  envelope({ type: 'system', subtype: 'stop_hook_summary', hookInfos: [], hookErrors: [], level: 'info' }),
  envelope({ type: 'user', isCompactSummary: true, message: { role: 'user', content: 'So far' } }),
  envelope({
    type: 'user',
    message: {
      role: 'user',
      content: '<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>toolu_1</tool-use-id>',
    },
    origin: { kind: 'task-notification' },
  }),
  { type: 'summary', summary: 'Owls', leafUuid: id(1) },
  { type: 'ai-title', aiTitle: 'Owls', sessionId: 'session-1' },
  { type: 'file-history-snapshot', messageId: id(1), snapshot: { timestamp: time }, isSnapshotUpdate: false },
];

const message = (fields: JsonObject): JsonObject => ({
  session_id: 'session-1',
  uuid: id(2),
  timestamp: time,
  parent_tool_use_id: 'toolu_0',
  ...fields,
});
const streamRecords: readonly JsonObject[] = [
  message({ type: 'system', subtype: 'init', model: 'm', cwd: '/', tools: ['Read'] }),
  message({
    type: 'user',
    message: { role: 'user', content: 'Hi' },
    origin: { kind: 'peer' },
    agent_id: 'a1',
  }),
  message({
    type: 'user',
    message: { role: 'user', content: [result] },
    tool_use_result: { agentId: 'a1' },
    tool_result_meta: [{ id: 'toolu_1', permission_decision: { decision: 'reject', source: 'hook' } }],
  }),
  message({ type: 'assistant', message: model(call), subagent_type: 'x', task_description: 'd' }),
  message({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'Done',
    total_cost_usd: 1,
    usage,
    modelUsage: { m: { inputTokens: 1, outputTokens: 2, costUSD: 1 } },
    duration_ms: 4,
    num_turns: 1,
    permission_denials: [{ tool_name: 'x', tool_use_id: 'toolu_1' }],
  }),
  message({
    type: 'system',
    subtype: 'task_started',
    task_id: 'a1',
    tool_use_id: 'toolu_1',
    task_type: 'local_agent',
  }),
  message({
    type: 'system',
    subtype: 'task_notification',
    task_id: 'a1',
    summary: 's',
    summary_is_report: true,
  }),
  message({
    type: 'system',
    subtype: 'compact_boundary',
    compact_metadata: {
      trigger: 'auto',
      pre_tokens: 1,
      preserved_segment: { head_uuid: id(1), anchor_uuid: id(4) },
    },
  }),
  message({ type: 'system', subtype: 'permission_denied', tool_use_id: 'toolu_1', decision_reason: 'no' }),
  message({ type: 'rate_limit_event', rate_limit_info: { status: 'allowed' } }),
];

const sessionRecords = (isV2: boolean): readonly JsonObject[] => {
  const [entry, substance, cause] = isV2
    ? [{ event_type: 'transcript_entry' }, 'substance', 'cause']
    : [{ source: 'agent_1' }, 'utterance_ref', 'caused_by'];
  const spoken = { message_id: 'm', agent_id: 'agent_1', ...entry };
  const tools = [{ id: 'k1', type: 'function', function: { name: 'task', arguments: '{"a":1}' } }];
  return [
    {
      message_id: 'm',
      event_type: 'agent_created',
      agent_id: 'agent_2',
      name: 'Bo',
      language_model: 'm',
      [cause as string]: 'm1',
    },
    { ...spoken, role: 'user', content: 'Hi', [substance as string]: 'm1' },
    {
      ...spoken,
      role: 'assistant',
      content: 'Go',
      reasoning_content: 'Hm',
      tool_calls: tools,
      [cause as string]: ['m1', 'm2'],
    },
    {
      ...spoken,
      role: 'tool',
      content: 'Error: Action blocked by hook x: y',
      tool_call_id: 'k1',
      name: 'task',
    },
    { ...spoken, role: 'system', content: 'Be kind' },
    { message_id: 'm', event_type: 'piece_of_text', agent_id: 'agent_1', content: 'p' },
    { message_id: 'm', event_type: 'my_type', agent_id: 'agent_1', a: { b: [1] } },
  ];
};

/** Enough sound records for the file to be of the format, whatever the others are. */
function soundRecords(record: JsonObject): JsonObject[] {
  return Array.from({ length: 500 }, (_, at) => ({ ...record, message_id: `sound-${at}` }));
}

const turn = { timestamp: time, turn: 'Day 1' };
const gameRecords: readonly JsonObject[] = [
  { ...turn, event_type: 'VOTE', payload: { players: ['Ann'], living_players: ['Ann'], player: 'Ann' } },
  { ...turn, event_type: 'DEATH', payload: { player: 'Ann' } },
  { ...turn, speaker: 'Ann', message: 'Hi', is_whisper: true, to: ['Bo'] },
  { ...turn, agent: 'Ann', event_type: 'x', payload: {} },
  {
    ...turn,
    agent: 'Ann',
    event_type: 'TOOL_CALL',
    payload: { tool_name: 'vote', arguments: { target: 'Bo' } },
  },
  {
    ...turn,
    agent: 'Ann',
    event_type: 'TOOL_RESULT',
    payload: { tool_name: 'vote', result: 'ok', status: 'error' },
  },
  { ...turn, agent: 'Ann', action_type: 'VOTE', payload: { voter: 'Ann', target: 'Bo' } },
  { ...turn, agent: 'Ann', thinking_process: 'Hm.' },
  { ...turn, agent: 'Ann', event_type: 'AGENT_REQUEST', payload: { from: 'Bo', message: 'Hi' } },
  {
    ...turn,
    agent: 'Ann',
    event_type: 'INFERENCE_COMPLETE',
    payload: { latency_ms: 1, prompt_tokens: 2, output_tokens: 3, model: 'm' },
  },
];

interface Format {
  readonly format: string;
  readonly first: readonly JsonObject[];
  readonly records: readonly JsonObject[];
  readonly last: JsonObject;
  /** The field that names a record; null if none does. */
  readonly idField: string | null;
}

const said = { message_id: 'first', agent_id: 'agent_1', role: 'user', content: 'First' };
const formats: readonly Format[] = [
  {
    format: 'claude-transcript',
    idField: 'uuid',
    first: [
      envelope({ type: 'user', message: { role: 'user', content: 'First' }, parentUuid: null, uuid: id(1) }),
    ],
    records: transcriptRecords,
    last: envelope({ type: 'user', message: { role: 'user', content: 'Last words' }, uuid: id(3) }),
  },
  {
    format: 'claude-stream',
    idField: 'uuid',
    first: [message({ type: 'user', message: { role: 'user', content: 'First' }, uuid: id(1) })],
    records: streamRecords,
    last: message({
      type: 'user',
      message: { role: 'user', content: 'Last words' },
      uuid: id(3),
      parent_tool_use_id: null,
    }),
  },
  {
    format: 'session-v1',
    idField: 'message_id',
    first: [
      { message_id: 'c', event_type: 'agent_created', agent_id: 'agent_1' },
      ...soundRecords({ ...said }),
    ],
    records: sessionRecords(false),
    last: { ...said, message_id: 'last', content: 'Last words' },
  },
  {
    format: 'session-v2',
    idField: 'message_id',
    first: [
      { message_id: 'c', event_type: 'agent_created', agent_id: 'agent_1' },
      ...soundRecords({ ...said, event_type: 'transcript_entry' }),
    ],
    records: sessionRecords(true),
    last: { ...said, event_type: 'transcript_entry', message_id: 'last', content: 'Last words' },
  },
  {
    format: 'game-log',
    idField: null,
    first: [
      { ...turn, event_type: 'GAME_START', payload: { players: ['Ann', 'Bo'] } },
      ...Array.from({ length: 200 }, () => ({ ...turn, speaker: 'Bo', message: 'Sound.' })),
    ],
    records: gameRecords,
    last: { ...turn, timestamp: '2026-03-01T09:31:00.000Z', speaker: 'Bo', message: 'Last words' },
  },
];

/** The paths of all values in a value, its own first. */
function pathsOf(value: JsonValue, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, item]) => pathsOf(item as JsonValue, [...path, key])),
  ];
}

function replaced(value: JsonValue, [key, ...rest]: readonly string[], by: JsonValue): JsonValue {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === key ? replaced(item, rest, by) : item));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [
      name,
      name === key ? replaced(item as JsonValue, rest, by) : (item as JsonValue),
    ]),
  );
}

/** A small random generator from 0 to below 1, repeatable by seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A value with a few of its parts replaced. */
function damaged(value: JsonObject, random: () => number): JsonObject {
  let result = value;
  for (let left = 1 + Math.floor(random() * 4); left > 0; left -= 1) {
    const paths = pathsOf(result).filter((path) => path.length > 0);
    const path = paths[Math.floor(random() * paths.length)] ?? [];
    const by = hostile[Math.floor(random() * hostile.length)] ?? null;
    if (path.length > 0) result = replaced(result, path, by) as JsonObject;
  }
  return result;
}

/** Imports a log of these records, and returns its events. */
async function importHostile({ format, first, last }: Format, records: readonly JsonObject[]) {
  using folder = new LogFolder();
  await using store = openDispatchStore(createMemoryStore());
  const path = folder.put('session-1.jsonl', lines(...first, ...records, last));
  const items = await importAll(store, [path], { task, as: format });
  const imported = items.map((item) => {
    if (item.kind === 'imported') return item;
    throw new Error('the import was stopped', { cause: item.kind === 'failed' ? item.error : item });
  });
  // A game log whose lines are older than its start holds two games.
  const ofGames = imported.map(({ dispatchId }) => store.getDispatchEvents(task, dispatchId));
  return {
    records: imported.reduce((sum, item) => sum + item.records, 0),
    counts: imported[0]?.counts ?? {},
    diagnostics: imported.flatMap(({ diagnostics }) => diagnostics),
    events: (await Promise.all(ofGames)).flat(),
  };
}

/** The records that neither an event nor a diagnostic of their line accounts for. */
async function findMissing(format: Format, records: readonly JsonObject[]): Promise<JsonObject[]> {
  const { first, idField } = format;
  const { events, ...read } = await importHostile(format, records);
  expect(read.records).toBe(first.length + records.length + 1);
  expect(events.map(({ data }) => data.text)).toContain('Last words');
  // The events of games are counted: they are named by kind and number. A result can have the action of its call.
  const acted = events.filter(({ data }) => data.action !== undefined).length;
  const ofGame = events.filter((event) =>
    /^(?:(?:event|chat|action|thought|trace|record|notice)|said-[0-9a-f]+)-\d+$/.test(event.id),
  ).length;
  if (idField === null) return ofGame + acted === read.records ? [] : [...records];
  const ids = events.map((event) => event.id);
  return records.filter((record, at) => {
    const line = at + 1 + first.length;
    const name = record[idField];
    const isNamed = (typeof name === 'string' && name !== '') || typeof name === 'number';
    const names = [`line-${line}`, ...(isNamed ? [idOf(String(name))] : [])];
    const isReported = read.diagnostics.some((one) => one.line === line && one.code === 'id_repeated');
    return (
      !isReported && !isSameInit(record) && !ids.some((one) => names.some((wanted) => one.startsWith(wanted)))
    );
  });
}

/** Whether a record is the `system/init` of the next turn, which repeats the one before. */
function isSameInit(record: JsonObject): boolean {
  const [init = {}] = streamRecords;
  const { uuid, timestamp } = init;
  return (
    record.subtype === 'init' &&
    JSON.stringify({ ...record, uuid, timestamp }) === JSON.stringify({ ...init, uuid, timestamp })
  );
}

/** The beginning of the ids of a record with that name. */
function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 100);
}

/** The record with a name of its own. */
function named(record: JsonObject, idField: string | null, number: number): JsonObject {
  return idField !== null && idField in record ? { ...record, [idField]: id(number) } : record;
}

describe('a record with a hostile value', () => {
  it.each(formats)('stops no import and is recorded, whatever field has it ($format)', async (format) => {
    for (const value of hostile) {
      const changed = format.records.flatMap((record, at) =>
        pathsOf(record).flatMap((path, index) =>
          path.length === 0
            ? []
            : [replaced(named(record, format.idField, 100 + at * 100 + index), path, value) as JsonObject],
        ),
      );
      expect(await findMissing(format, changed), JSON.stringify(value)).toEqual([]);
    }
  });

  const seeds = [1, 2, 3].flatMap((seed) => formats.map((format) => ({ seed, ...format })));
  it.each(seeds)(
    'stops no import among many such records ($format, seed $seed)',
    async ({ seed, ...format }) => {
      const random = numbersFrom(seed);
      const changed = Array.from({ length: 400 }, (_, at) => {
        const record = format.records[Math.floor(random() * format.records.length)] as JsonObject;
        return damaged(named(record, format.idField, 100 + at), random);
      });
      expect(await findMissing(format, changed)).toEqual([]);
    },
  );
});

describe('a record that cannot be mapped', () => {
  it('is a notice with its line, and the records after it are imported', async () => {
    const [transcript] = formats as [Format];
    const nothing = envelope({
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: [], commandMode: 'prompt' },
    });
    const { counts, events } = await importHostile(transcript, [nothing]);
    expect(events.find(({ type }) => type === 'system:notice')?.data).toEqual({
      problem: 'it has no content',
      line: 2,
      raw: nothing,
    });
    expect(counts).toMatchObject({ not_mapped: 1 });
  });

  it('may be a queued prompt of several blocks whose uuid cannot be an id', async () => {
    const [transcript] = formats as [Format];
    const prompt = ['a', 'b'].map((text) => ({ type: 'text', text }));
    const queued = envelope({
      type: 'attachment',
      uuid: 'a b',
      attachment: { type: 'queued_command', prompt },
    });
    const { events } = await importHostile(transcript, [queued]);
    expect(events.flatMap(({ messageId, data }) => (messageId === 'a-b' ? [data.text] : []))).toEqual([
      'a',
      'b',
    ]);
  });
});

describe('what cannot be read of a transcript', () => {
  it('names the four usages that have another form (c58)', async () => {
    await using store = openDispatchStore(createMemoryStore());
    const path = new URL('fixtures/field-reports/c58/p', import.meta.url).pathname;
    const [item] = await importAll(store, [path], { task });
    if (item?.kind !== 'imported') throw new Error('not imported');
    expect(item.counts).toEqual({ usage_unreadable: 4 });
    expect(item.diagnostics.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '2 The usage cannot be read, and its call is not counted: input_tokens is "100", output_tokens is "10".',
      '4 The usage cannot be read, and its call is not counted: input_tokens is null.',
      '6 The usage cannot be read, and its call is not counted: input_tokens or output_tokens is absent.',
      '8 The usage cannot be read, and its call is not counted: input_tokens is -5.',
    ]);
  });

  it('names a wiped file, and keeps what was imported before', async () => {
    using folder = new LogFolder();
    await using store = openDispatchStore(createMemoryStore());
    const [transcript] = formats as [Format];
    const path = folder.put('session-1.jsonl', lines(...transcript.first, transcript.last));
    const other = folder.put(
      'session-2.jsonl',
      lines(...transcript.first.map((one) => ({ ...one, sessionId: 's2' }))),
    );
    await importAll(store, [path], { task });
    const [before] = await store.getDispatchEnvelopes(task);
    folder.put('session-1.jsonl', '\0'.repeat(4_000));
    const items = await importAll(store, [folder.path], { task });
    expect(
      items.map((item) =>
        item.kind === 'failed'
          ? String(item.error)
          : item.kind === 'left-out' || item.kind === 'not-read'
            ? item
            : item.files[0],
      ),
    ).toEqual([expect.stringContaining('was wiped: it holds only NUL bytes'), other]);
    expect(await store.getDispatchEnvelope(task, before?.dispatchId ?? '')).toEqual(before);
  });
});
