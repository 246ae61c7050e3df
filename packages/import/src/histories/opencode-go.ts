import { asName, asObject, asText, dispatchIdOf, timestampOf } from '@hansard/claude';
import { formatErrors, type JsonObject, type JsonValue } from '@hansard/events';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { tablesIn } from '../importers/products.ts';
import { taskOf } from '../importers/task-names.ts';
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
import { asItemId, Fields, RecordItem, recentCalls, targetOf } from './record-item.ts';

/** Sessions of OpenCode, in the database of its version in Go, and of Crush. */
export const openCodeGoImporter: LogImporterProvider = {
  contract: 1,
  id: 'opencode-go',
  title: 'a database of OpenCode (Go) or Crush',
  endings: ['.db'],
  detect: ({ text }) => {
    const tables = tablesIn(text);
    return (
      ['sessions', 'messages', 'files'].every((name) => tables.has(name)) &&
      text.includes('parent_session_id')
    );
  },
  open: ({ files: [file = ''] }) => openSessions(file),
};

function dispatchOf(sessionId: string): string {
  return dispatchIdOf(`opencode-go\n${sessionId}`, 0);
}

async function openSessions(file: string): Promise<OpenLog[]> {
  using database = await HistoryDatabase.open(file);
  if (!['sessions', 'messages', 'files'].every((name) => database.has(name)))
    throw formatErrors.error('FORMAT_NO_RECORDS', `${file} has no tables of OpenCode (Go).`, {
      details: { file },
    });
  const rows = new Map<string, Row>();
  for (const row of database.rows('SELECT * FROM sessions ORDER BY created_at, id'))
    if (typeof row.id === 'string') rows.set(row.id, row);
  for (const table of ['messages', 'files'])
    for (const { id } of database.rows(
      `SELECT DISTINCT session_id AS id FROM ${table} WHERE typeof(session_id) = 'text'`,
    ))
      if (typeof id === 'string' && !rows.has(id)) rows.set(id, { id });
  return [...rows].map(([id, row], at) => openSession(file, id, row, at === 0));
}

function openSession(file: string, id: string, row: Row, isFirst: boolean): OpenLog {
  const parent = asName(row.parent_session_id) ?? null;
  const dispatchId = dispatchOf(id);
  const files = databaseFiles(file);
  return openHistory({
    format: 'opencode-go',
    files,
    fileCount: isFirst ? files.length : 0,
    dispatchId,
    ...(parent === null ? {} : { parentDispatchId: dispatchOf(parent) }),
    startedAt: momentOf(row.created_at),
    taskDir: taskOf('opencode-go', parent ?? id, dispatchId),
    growth: 'rewritten',
    createMapping: (report) => new OpenCodeGoMapping(report, id, parent),
    async *parts() {
      using database = await HistoryDatabase.open(file);
      if (isFirst) yield othersOf(database);
      yield partsOf(database, id);
    },
  });
}

/** Times are seconds, although the schema says milliseconds. */
function momentOf(value: JsonValue | undefined): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null;
  const time = value < 1e11 ? value * 1_000 : value;
  return time < 253_402_300_800_000 ? Math.floor(time) : null;
}

function stampOf(value: JsonValue | undefined): string | null {
  const time = momentOf(value);
  return time === null ? null : timestampOf(time);
}

const tables = [
  ['sessions', 'id', 'created_at'],
  ['messages', 'session_id', 'created_at, rowid'],
  ['files', 'session_id', 'created_at, rowid'],
] as const;

function* partsOf(database: HistoryDatabase, sessionId: string): Generator<HistoryPart> {
  const rowsOf = ([table, key, order]: (typeof tables)[number]) =>
    database.rows(
      `SELECT rowid AS "$row", '${table}' AS "$table", * FROM ${table} WHERE ${key} = ? ORDER BY ${order}`,
      sessionId,
    );
  const [sessions, messages, files] = tables;
  for (const row of rowsOf(sessions)) yield partOf(row);
  for (const row of inTime(rowsOf(messages), rowsOf(files))) yield partOf(row);
}

function partOf({ $row = null, ...row }: Row): HistoryPart {
  const { $table: table = null, ...columns } = row;
  const parts = typeof row.parts === 'string' ? jsonOrText(row.parts) : undefined;
  const value = { ...row, ...(parts === undefined ? {} : { parts }) };
  const place = `${table}-${$row}`;
  return { kind: 'record', value, place, line: 1, bytes: bytesOfRow(columns), checksum: 0 };
}

/** The rows of two tables by time, so that a row that is added is the last one. Of one second, those of the first table come first. */
function* inTime(messages: Generator<Row>, files: Generator<Row>): Generator<Row> {
  let file = files.next();
  for (const message of messages) {
    const time = momentOf(message.created_at) ?? 0;
    for (; !file.done && (momentOf(file.value.created_at) ?? 0) < time; file = files.next()) yield file.value;
    yield message;
  }
  for (; !file.done; file = files.next()) yield file.value;
}

function othersOf(database: HistoryDatabase): HistoryPart[] {
  return tables.map(([table, key]) =>
    countRows(database.rows(`SELECT * FROM ${table} WHERE typeof(${key}) <> 'text'`), 'no_session', table),
  );
}

class OpenCodeGoMapping implements HistoryMapping {
  model: string | null = null;
  statusIfQuiet: HistoryMapping['statusIfQuiet'] = 'crashed';
  readonly #report: HistoryReport;
  readonly #sessionId: string;
  readonly #parent: string | null;
  readonly #calls = recentCalls();
  #prompts = 0;
  #hasInit = false;

  constructor(report: HistoryReport, sessionId: string, parent: string | null) {
    this.#report = report;
    this.#sessionId = sessionId;
    this.#parent = parent;
  }

  timeOf(row: JsonObject): number | null {
    return momentOf(row.created_at);
  }

  map(row: JsonObject, { name }: { readonly name: string }): MappedRecord {
    const fields = new Fields(row);
    const table = asText(fields.value('$table'));
    const timestamp = stampOf(fields.get('created_at'));
    if (timestamp !== null) fields.take('created_at');
    for (const time of ['updated_at', 'finished_at'])
      if (momentOf(fields.get(time)) !== null) fields.take(time);
    fields.drop('session_id', this.#sessionId);
    const id = asItemId(fields.get('id'));
    if (id !== undefined) fields.take('id');
    if (table === 'sessions') return this.#session(fields, timestamp);
    const item = new RecordItem(table === 'files' ? `file-${id ?? name}` : (id ?? name), timestamp, fields);
    if (table === 'files') {
      item.capture('system:file_version', {});
      return [item];
    }
    return this.#message(item, timestamp);
  }

  /** The tokens of a session are those of its last call alone. They are kept as captured. */
  #session(fields: Fields, timestamp: string | null): RecordItem[] {
    fields.count('message_count');
    const item = new RecordItem('session', timestamp, fields);
    item.capture('system:session', {});
    const title = fields.name('title');
    if (title === undefined) return [item];
    const titled = new RecordItem('title', timestamp, new Fields({}));
    titled.capture('session:status', { kind: 'title', title });
    return [item, titled];
  }

  #message(item: RecordItem, timestamp: string | null): RecordItem[] {
    const { fields, id } = item;
    const role = asText(fields.get('role')) ?? '';
    const model = role === 'assistant' ? fields.name('model') : undefined;
    this.model = model ?? this.model;
    const init = this.#init(timestamp);
    const items: RecordItem[] = [];
    for (const [at, part] of fields.list('parts').entries()) {
      if (part === null) continue;
      const own = new RecordItem(
        `${id}.part-${at + 1}`,
        timestamp,
        part,
        role === 'assistant' ? { messageId: id } : {},
      );
      this.#part(own, role);
      fields.takeItem('parts', at);
      items.push(own);
    }
    fields.take('role');
    item.capture('system:message', { role, ...(model === undefined ? {} : { model }) });
    return [...init, item, ...items];
  }

  #init(timestamp: string | null): RecordItem[] {
    if (this.#hasInit || this.model === null) return [];
    this.#hasInit = true;
    const item = new RecordItem('session-init', timestamp, new Fields({}));
    item.add('session:init', { model: this.model, sessionId: this.#sessionId });
    return [item];
  }

  #part(item: RecordItem, role: string): void {
    const type = asText(item.fields.get('type')) ?? '';
    const data = item.fields.object('data') ?? new Fields({});
    const isAnswer = role === 'assistant';
    if (type === 'text' || type === 'reasoning') {
      const text = data.text(type === 'text' || data.get('text') !== undefined ? 'text' : 'thinking');
      if (text === undefined) item.capture('system:part', {});
      else if (!isAnswer) item.capture('user:message', { text, source: this.#source() });
      else item.add(type === 'text' ? 'agent:text' : 'agent:thinking', { text });
      if (text !== undefined) item.fields.take('type');
      this.statusIfQuiet = 'crashed';
    } else if (type === 'tool_call') this.#call(item, data);
    else if (type === 'tool_result') this.#result(item, data);
    else {
      if (type === 'finish') {
        const reason = data.get('reason');
        if (isAnswer)
          this.statusIfQuiet =
            reason === 'end_turn' ? 'completed' : reason === 'canceled' ? 'aborted' : 'crashed';
      } else if (!['image_url', 'binary'].includes(type))
        this.#report(
          'unknown_kind',
          `A part of the type ${JSON.stringify(type)} is not known. It is kept as captured.`,
        );
      item.capture(type === 'finish' ? 'system:finish' : 'system:part', {});
    }
  }

  #source(): JsonObject {
    this.#prompts += 1;
    if (this.#parent === null) return { kind: 'user' };
    return this.#prompts === 1
      ? { kind: 'agent', dispatchId: dispatchOf(this.#parent) }
      : { kind: 'external' };
  }

  #call(item: RecordItem, data: Fields): void {
    const tool = data.name('name');
    if (tool === undefined) {
      item.capture('system:tool_call', {});
      return;
    }
    item.fields.take('type');
    const toolCallId = data.name('id') ?? item.id;
    const given = data.value('input') ?? null;
    const read = typeof given === 'string' ? jsonOrText(given) : given;
    const input = asObject(read) === undefined ? given : read;
    const target = targetOf(input);
    const event = item.add('agent:tool_call', { toolCallId, tool, ...target, metadata: {}, input });
    this.#calls.set(toolCallId, { event, tool, ...target });
  }

  #result(item: RecordItem, data: Fields): void {
    item.fields.take('type');
    const toolCallId = data.name('tool_call_id') ?? item.id;
    const call = this.#calls.get(toolCallId);
    const isError = data.get('is_error') === true;
    data.drop('is_error', true, false);
    data.drop('name', '', call?.tool);
    const output = data.text('content');
    item.add(
      'agent:tool_result',
      {
        toolCallId,
        tool: call?.tool ?? 'unknown',
        ...(call?.target === undefined ? {} : { target: call.target }),
        metadata: {},
        status: isError ? 'error' : 'completed',
        ...(isError ? { error: output?.split('\n')[0] || 'The tool reported a failure.' } : {}),
        ...(output === undefined ? {} : { output }),
      },
      call === undefined ? {} : { cause: call.event },
    );
  }
}
