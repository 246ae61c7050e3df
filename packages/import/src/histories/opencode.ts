import { asName, asObject, asText, dispatchIdOf, timestampOf, unknownEventType } from '@hansard/claude';
import { formatErrors, type JsonObject, type JsonValue } from '@hansard/events';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { tablesIn } from '../importers/products.ts';
import { projectOf, taskOf } from '../importers/task-names.ts';
import {
  bytesOfRow,
  countRows,
  databaseFiles,
  HistoryDatabase,
  jsonOrText,
  type Row,
} from './history-database.ts';
import {
  type HistoryMapping,
  type HistoryPart,
  type HistoryReport,
  type MappedRecord,
  openHistory,
} from './history-reading.ts';
import { asItemId, Fields, isNothing, RecordItem, targetOf, usageOf } from './record-item.ts';

/** Sessions of OpenCode, in the database of its version in TypeScript. */
export const openCodeImporter: LogImporterProvider = {
  contract: 1,
  id: 'opencode',
  title: 'a database of OpenCode',
  endings: ['.db'],
  detect: ({ text }) => {
    const tables = tablesIn(text);
    return ['session', 'message', 'part'].every((name) => tables.has(name));
  },
  open: ({ files: [file = ''] }) => openSessions(file),
};

function dispatchOf(sessionId: string): string {
  return dispatchIdOf(`opencode\n${sessionId}`, 0);
}

const longestTree = 64;

async function openSessions(file: string): Promise<OpenLog[]> {
  using database = await HistoryDatabase.open(file);
  if (!['session', 'message', 'part'].every((name) => database.has(name)))
    throw formatErrors.error('FORMAT_NO_RECORDS', `${file} has no tables of OpenCode.`, {
      details: { file },
    });
  const rows = new Map<string, Row>();
  for (const row of database.rows('SELECT * FROM session ORDER BY time_created, id'))
    if (typeof row.id === 'string') rows.set(row.id, row);
  // A session whose row is damaged still has messages.
  for (const { id } of database.rows(
    "SELECT DISTINCT session_id AS id FROM message WHERE typeof(session_id) = 'text'",
  ))
    if (typeof id === 'string' && !rows.has(id)) rows.set(id, { id });
  const rootOf = (id: string, depth = 0): string => {
    const parent = rows.get(id)?.parent_id;
    return typeof parent === 'string' && rows.has(parent) && depth < longestTree
      ? rootOf(parent, depth + 1)
      : id;
  };
  return [...rows].map(([id, row], at) =>
    openSession(file, { id, row, root: rootOf(id), isFirst: at === 0 }),
  );
}

interface SessionPlace {
  readonly id: string;
  readonly row: Row;
  readonly root: string;
  /** Whether it accounts for what no session of the database has. */
  readonly isFirst: boolean;
}

function openSession(file: string, { id, row, root, isFirst }: SessionPlace): OpenLog {
  const cwd = asName(row.directory) ?? null;
  const parent = asName(row.parent_id) ?? null;
  const dispatchId = dispatchOf(id);
  const files = databaseFiles(file);
  return openHistory({
    format: 'opencode',
    files,
    fileCount: isFirst ? files.length : 0,
    dispatchId,
    ...(parent === null ? {} : { parentDispatchId: dispatchOf(parent) }),
    startedAt: momentOf(row.time_created),
    cwd,
    taskDir: taskOf(cwd === null ? 'opencode' : projectOf(cwd), root, dispatchId),
    growth: 'rewritten',
    createMapping: (report) => new OpenCodeMapping(report, id, parent),
    async *parts() {
      using database = await HistoryDatabase.open(file);
      if (isFirst) yield othersOf(database);
      yield partsOf(database, id);
    },
  });
}

/** A time in milliseconds since 1970. */
function momentOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 253_402_300_800_000
    ? value
    : null;
}

const ofMessage = 'SELECT rowid AS "$row", * FROM message';
const ofPart = 'SELECT rowid AS "$row", * FROM part';

/** The rows of a session: its own, then each message with its parts. */
function* partsOf(database: HistoryDatabase, sessionId: string): Generator<HistoryPart> {
  const partOf = (table: string, { $row: number = null, ...row }: Row): HistoryPart => {
    const data = typeof row.data === 'string' ? jsonOrText(row.data) : undefined;
    const value = { $table: table, ...row, ...(data === undefined ? {} : { data }) };
    return {
      kind: 'record',
      value,
      place: `${table}-${number}`,
      line: 1,
      bytes: bytesOfRow(row),
      // A row has one name, so its events need no comparison.
      checksum: 1,
    };
  };
  for (const row of database.rows('SELECT rowid AS "$row", * FROM session WHERE id = ?', sessionId))
    yield partOf('session', row);
  const hasIndex =
    [
      ...database.rows(
        "SELECT 1 FROM sqlite_master WHERE type = 'index' AND tbl_name = 'part' AND sql LIKE '%message_id%'",
      ),
    ].length > 0;
  const byMessage = hasIndex ? null : groupedParts(database, sessionId);
  for (const row of database.rows(`${ofMessage} WHERE session_id = ? ORDER BY id`, sessionId)) {
    const message = partOf('message', row);
    const parts =
      typeof row.id !== 'string'
        ? []
        : (byMessage?.get(row.id) ?? [
            ...database.rows(`${ofPart} WHERE message_id = ? ORDER BY id`, row.id),
          ]);
    const own = parts.map((part) => partOf('part', part));
    const isCounted = own.some(
      ({ value }) => asObject(asObject(asObject(value)?.data)?.tokens) !== undefined,
    );
    yield { ...message, value: { ...asObject(message.value), $isCounted: isCounted } };
    yield* own;
  }
  const query = `${ofPart} WHERE session_id = ? AND (message_id IS NULL OR message_id NOT IN (SELECT id FROM message WHERE id IS NOT NULL)) ORDER BY id`;
  for (const row of database.rows(query, sessionId)) yield partOf('part', row);
  for (const [table, column] of twins) {
    if (database.has(table))
      yield countRows(database.rows(`SELECT * FROM ${table} WHERE ${column} = ?`, sessionId), 'twin', table);
  }
}

/** What states the rows of a session once more: the log of their changes, the records of a second engine, and the list of tasks of the last call. */
const twins = [
  ['event', 'aggregate_id'],
  ['session_message', 'session_id'],
  ['todo', 'session_id'],
] as const;

/** Without an index, the parts of a session are read at once. */
function groupedParts(database: HistoryDatabase, sessionId: string): Map<JsonValue | undefined, Row[]> {
  const query = `${ofPart} WHERE message_id IN (SELECT id FROM message WHERE session_id = ?) ORDER BY id`;
  return Map.groupBy(database.rows(query, sessionId), (row) => row.message_id);
}

/** The rows that belong to no session. */
function othersOf(database: HistoryDatabase): HistoryPart[] {
  const sessions =
    "SELECT id FROM session WHERE typeof(id) = 'text' UNION SELECT session_id FROM message WHERE typeof(session_id) = 'text'";
  const lost = [
    "SELECT * FROM session WHERE typeof(id) <> 'text'",
    "SELECT * FROM message WHERE typeof(session_id) <> 'text'",
    `SELECT * FROM part WHERE (message_id IS NULL OR message_id NOT IN (SELECT id FROM message WHERE id IS NOT NULL AND typeof(session_id) = 'text'))
      AND (session_id IS NULL OR session_id NOT IN (${sessions}))`,
  ];
  return lost.map((query, at) => countRows(database.rows(query), 'no_session', `lost-${at}`));
}

class OpenCodeMapping implements HistoryMapping {
  model: string | null = null;
  statusIfQuiet: HistoryMapping['statusIfQuiet'] = 'crashed';
  readonly heads: string[] = [];
  readonly #report: HistoryReport;
  readonly #sessionId: string;
  readonly #parent: string | null;
  #hasInit = false;
  #prompts = 0;
  #cwd: string | null = null;
  /** The message whose parts follow. */
  #message: {
    readonly id: string;
    readonly role: string;
    readonly isCounted: boolean;
    readonly created: number | null;
  } | null = null;

  constructor(report: HistoryReport, sessionId: string, parent: string | null) {
    this.#report = report;
    this.#sessionId = sessionId;
    this.#parent = parent;
  }

  timeOf(row: JsonObject): number | null {
    const times = [row.time_created, row.time_updated].flatMap((time) => momentOf(time) ?? []);
    return times.length === 0 ? null : Math.max(...times);
  }

  map(row: JsonObject, { name }: { readonly name: string }): MappedRecord {
    const fields = new Fields(row);
    const table = asText(fields.value('$table'));
    const id = asItemId(fields.get('id'));
    if (id !== undefined) fields.take('id');
    if (fields.get('session_id') === this.#sessionId) fields.take('session_id');
    const item = (links = {}) =>
      new RecordItem(id ?? name, stampOf(fields.get('time_created')), fields, links);
    if (table === 'session') return this.#session(fields);
    if (table === 'message') return this.#messageRow(fields, item);
    if (table === 'part') return this.#part(fields, item);
    return [item()];
  }

  /** The totals of a session are sums of what its messages state. */
  #session(fields: Fields): RecordItem[] {
    for (const name of ['time_updated', 'cost', ...totals])
      if (typeof fields.get(name) === 'number') fields.take(name);
    fields.drop('id', this.#sessionId);
    this.#cwd = asName(fields.get('directory')) ?? null;
    const time = stampOf(fields.get('time_created'));
    if (time !== null) fields.take('time_created');
    const title = asName(fields.get('title'));
    const item = new RecordItem('session', time, fields);
    item.capture('system:session', {});
    if (title === undefined) return [item];
    fields.take('title');
    const titled = new RecordItem('title', time, new Fields({}));
    titled.capture('session:status', { kind: 'title', title });
    return [item, titled];
  }

  #messageRow(fields: Fields, item: (links?: object) => RecordItem): MappedRecord {
    const data = fields.object('data') ?? new Fields({});
    const isCounted = fields.value('$isCounted') === true;
    const role = asText(data.get('role')) ?? '';
    const row = item(role === 'assistant' ? { messageId: idOfItem(fields) } : {});
    const created = momentOf(asObject(data.get('time'))?.created) ?? momentOf(fields.get('time_created'));
    this.#message = { id: row.id, role, isCounted, created };
    this.#takeTimes(fields);
    takeSpan(data.object('time'), 'created', 'completed');
    if (role !== 'assistant') {
      this.statusIfQuiet = 'crashed';
      if (role === 'user') data.take('role');
      row.capture(unknownEventType('system', 'message'), role === 'user' ? { role } : {});
      return [row];
    }
    const model = data.name('modelID');
    this.model = model ?? this.model;
    data.take('role');
    const error = asObject(data.get('error'));
    const isDone = asObject(asObject(fields.own.data)?.time)?.completed !== undefined;
    this.statusIfQuiet =
      error?.name === 'MessageAbortedError'
        ? 'aborted'
        : error === undefined && isDone && data.get('finish') !== 'tool-calls'
          ? 'completed'
          : 'crashed';
    row.capture('system:message', { role, ...(model === undefined ? {} : { model }) });
    const init = this.#init(stampOf(created ?? undefined));
    // The parts state the usage of each call, and the message their sum.
    if (isCounted) {
      usageIn(data);
      data.amount('cost');
    }
    if (this.heads.length === 0) this.heads.push(row.id);
    return [...init, row];
  }

  #takeTimes(fields: Fields): void {
    for (const name of ['time_created', 'time_updated'])
      if (momentOf(fields.get(name)) !== null) fields.take(name);
  }

  #init(timestamp: string | null): RecordItem[] {
    if (this.#hasInit || this.model === null) return [];
    this.#hasInit = true;
    const item = new RecordItem('session-init', timestamp, new Fields({}));
    item.add('session:init', {
      model: this.model,
      sessionId: this.#sessionId,
      ...(this.#cwd === null ? {} : { cwd: this.#cwd }),
    });
    return [item];
  }

  /** Adds what a call of the model used. Input is without what a cache had, and output without reasoning. False: it used nothing. */
  #inference(data: Fields, item: RecordItem): boolean {
    const usage = usageIn(data);
    if (usage === null) return false;
    // A cost of 0 says that the product knows no price.
    const costUsd = data.amount('cost');
    const stopReason = data.name('reason');
    item.add('agent:inference', {
      model: this.model ?? 'unknown',
      usage,
      ...(costUsd === undefined || costUsd === 0 ? {} : { costUsd }),
      ...(stopReason === undefined ? {} : { stopReason }),
    });
    return true;
  }

  #part(fields: Fields, itemOf: (links?: object) => RecordItem): MappedRecord {
    const data = fields.object('data') ?? new Fields({});
    const message = fields.get('message_id') === this.#message?.id ? this.#message : null;
    if (message !== null) fields.take('message_id');
    const isAnswer = message?.role === 'assistant';
    const times = data.object('time');
    const time = momentOf(times?.get('start')) ?? momentOf(fields.get('time_created')) ?? message?.created;
    const timestamp = stampOf(time ?? undefined);
    this.#takeTimes(fields);
    if (timestamp !== null && data.get('type') !== 'tool') takeSpan(times, 'start', 'end');
    const item = new RecordItem(
      itemOf().id,
      timestamp,
      fields,
      isAnswer && message !== null ? { messageId: message.id } : {},
    );
    const type = asText(data.get('type'));
    if (type !== undefined && !partTypes.has(type))
      this.#report(
        'unknown_kind',
        `A part of the type ${JSON.stringify(type)} is not known. It is kept as captured.`,
      );
    if (message !== null && (type === 'text' || type === 'reasoning')) {
      const text = data.text('text');
      if (text !== undefined) data.take('type');
      if (text === '' && isNothing(fields.rest())) return 'empty';
      if (text !== undefined && text !== '') {
        if (!isAnswer)
          item.add('user:message', { text, source: this.#sourceOf(data.get('synthetic') === true) });
        else item.add(type === 'text' ? 'agent:text' : 'agent:thinking', { text });
        return [item];
      }
    }
    if (type === 'tool') return this.#tool(data, item);
    if (type === 'step-finish' && message !== null && this.#inference(data, item)) {
      data.take('type');
      return [item];
    }
    if (type === 'file' && message !== null && !isAnswer) return [this.#file(data, item)];
    if (type === 'compaction') {
      data.take('type');
      item.add('session:compaction', {
        trigger: data.get('auto') === true ? 'auto' : data.get('auto') === false ? 'manual' : 'unknown',
      });
      return [item];
    }
    item.capture(unknownEventType('system', type ?? 'part'), {});
    return [item];
  }

  #sourceOf(isSynthetic: boolean): { kind: 'system' | 'user' | 'agent' | 'external'; dispatchId?: string } {
    if (isSynthetic) return { kind: 'system' };
    this.#prompts += 1;
    if (this.#parent === null) return { kind: 'user' };
    // The first prompt of a sub-agent is its task. A later one can be from a person, too.
    return this.#prompts === 1
      ? { kind: 'agent', dispatchId: dispatchOf(this.#parent) }
      : { kind: 'external' };
  }

  /** A file that is attached to a prompt. */
  #file(data: Fields, item: RecordItem): RecordItem {
    const [mediaType, url] = [asName(data.get('mime')), asName(data.get('url'))];
    const [, base64] = /^data:[^,]*;base64,([A-Za-z0-9+/]+=*)$/.exec(url ?? '') ?? [];
    if (mediaType === undefined || base64 === undefined) {
      item.capture('system:file', {});
      return item;
    }
    data.take('mime', 'url', 'type');
    const name = data.name('filename');
    const kind = mediaType.startsWith('image/') ? 'image' : 'document';
    item.capture('user:message', {
      text: '',
      source: this.#sourceOf(true),
      parts: [{ kind, mediaType, base64, ...(name === undefined ? {} : { name }) }],
    });
    return item;
  }

  /** A call, once its input is complete, with its result, once it has one. */
  #tool(data: Fields, call: RecordItem): MappedRecord {
    const state = data.object('state');
    const tool = asName(data.get('tool'));
    const status = asText(state?.get('status'));
    if (state === undefined || tool === undefined || status === undefined) {
      call.capture('system:tool', {});
      return [call];
    }
    if (status === 'pending') return 'pending';
    const toolCallId = data.name('callID') ?? call.id;
    data.take('tool', 'type');
    const input = state.value('input') ?? null;
    const target = targetOf(input);
    const times = state.object('time');
    const [start, end] = [momentOf(times?.get('start')), momentOf(times?.get('end'))];
    const named = { toolCallId, tool, ...target };
    const of = new RecordItem(
      call.id,
      stampOf(start ?? undefined),
      new Fields({}),
      this.#message?.role === 'assistant' ? { messageId: this.#message.id } : {},
    );
    const cause = of.add('agent:tool_call', { ...named, metadata: {}, input });
    if (status !== 'completed' && status !== 'error') {
      if (!isNothing(call.fields.rest()))
        of.capture('system:tool_state', call.fields.rest(), { name: 'state' });
      return [of];
    }
    state.take('status');
    takeSpan(times, 'start', 'end');
    const metadata = state.object('metadata');
    const exitCode = metadata?.count('exit');
    const stated = state.name('error');
    const failed =
      exitCode !== undefined && exitCode !== 0 ? `The command exited with ${exitCode}.` : undefined;
    const error = stated ?? failed ?? (status === 'error' ? 'The tool reported a failure.' : undefined);
    const output = state.value('output');
    if (typeof output === 'string') metadata?.drop('output', output);
    const result = new RecordItem(`${call.id}.result`, stampOf(end ?? undefined), call.fields);
    result.add(
      'agent:tool_result',
      {
        ...named,
        metadata: exitCode === undefined ? {} : { exitCode },
        status: error === undefined ? 'completed' : 'error',
        ...(start === null || end === null || end < start ? {} : { durationMs: end - start }),
        ...(error === undefined ? {} : { error }),
        ...(output === undefined ? {} : { output }),
      },
      { cause },
    );
    const child = asName(metadata?.get('sessionId'));
    const prompt = asName(asObject(input)?.prompt);
    if (tool === 'task' && child !== undefined && prompt !== undefined)
      of.add(
        'agent:message_sent',
        { text: prompt, to: { dispatchId: dispatchOf(child) } },
        { name: 'sent', cause },
      );
    return [of, result];
  }
}

const totals = [
  'tokens_input',
  'tokens_output',
  'tokens_reasoning',
  'tokens_cache_read',
  'tokens_cache_write',
];
const partTypes: ReadonlySet<string> = new Set(
  'text reasoning tool step-start step-finish file snapshot patch agent subtask compaction retry'.split(' '),
);

/** Takes the tokens of a part or a message. */
function usageIn(data: Fields): ReturnType<typeof usageOf> {
  const tokens = data.object('tokens') ?? new Fields({});
  const cache = tokens.object('cache');
  const [input = 0, output = 0, reasoning = 0] = ['input', 'output', 'reasoning'].map((name) =>
    tokens.count(name),
  );
  const [cacheRead = 0, cacheWrite = 0] = ['read', 'write'].map((name) => cache?.count(name));
  tokens.drop('total', input + output + reasoning + cacheRead + cacheWrite);
  return usageOf({ input, output: output + reasoning, cacheRead, cacheWrite, reasoning });
}

function takeSpan(times: Fields | undefined, ...names: readonly string[]): void {
  for (const name of names) if (momentOf(times?.get(name)) !== null) times?.take(name);
}

function idOfItem(fields: Fields): string {
  return asItemId(fields.own.id) ?? 'message';
}

function stampOf(value: JsonValue | undefined): string | null {
  const time = momentOf(value);
  return time === null ? null : timestampOf(time);
}
