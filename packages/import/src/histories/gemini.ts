import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  asName,
  asObject,
  asText,
  dispatchIdOf,
  recordedTime,
  resolveOwn,
  timestampOf,
  unknownEventType,
} from '@hansard/claude';
import { formatErrors, type JsonObject, type JsonValue } from '@hansard/events';
import { splitDocument } from '@hansard/formats';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { chunksOf, readHead } from '../find/read-source.ts';
import { assertKnown } from '../importers/choose-importer.ts';
import { isOfQwen } from '../importers/products.ts';
import { projectOf, taskOf } from '../importers/task-names.ts';
import {
  type HistoryMapping,
  type HistoryPart,
  type HistoryReport,
  type MappedRecord,
  openHistory,
} from './history-reading.ts';
import { assertRecords, lineParts, startRecords } from './line-parts.ts';
import {
  asItemId,
  Fields,
  fitted,
  isNothing,
  type KnownCall,
  RecordItem,
  recentCalls,
  targetOf,
  usageOf,
} from './record-item.ts';

/** Sessions of Gemini CLI: one JSON document that is written again as a whole, or JSON lines in which a message can come again. */
export const geminiImporter: LogImporterProvider = {
  contract: 1,
  id: 'gemini-cli',
  title: 'a session of Gemini CLI',
  endings: ['.json'],
  detect: ({ path, text }) => {
    if (isOfQwen(path)) return false;
    if (!isLines(text)) return isSession(membersBefore([Buffer.from(text)]));
    const { records, known } = sharesOf(text);
    return known * 2 > records && startRecords(text).some(isSession);
  },
  hasRecord: ({ text }) =>
    isLines(text) ? sharesOf(text).known > 0 : isSession(membersBefore([Buffer.from(text)])),
  open: ({ files: [file = ''] }) => [openSession(file)],
};

const listNames = ['messages'];
const messageTypes: ReadonlySet<unknown> = new Set(['user', 'gemini', 'info', 'warning', 'error']);

/** Whether a text is a list of records, and no document. */
function isLines(text: string): boolean {
  const start = text.trimStart();
  if (!start.startsWith('{')) return true;
  const end = start.indexOf('\n');
  const record = end < 0 ? undefined : asObject(jsonOf(start.slice(0, end)));
  return record !== undefined && !('messages' in record);
}

/** The members of a document that name its session. */
const ofSession = ['sessionId', 'projectHash', 'startTime', 'lastUpdated'];

function isSession({ sessionId, projectHash }: JsonObject): boolean {
  return typeof sessionId === 'string' && typeof projectHash === 'string';
}

function isGeminiRecord(value: JsonValue): boolean {
  const record = asObject(value) ?? {};
  if (isSession(record) || '$set' in record || '$rewindTo' in record) return true;
  return (
    typeof record.id === 'string' &&
    typeof record.timestamp === 'string' &&
    messageTypes.has(record.type) &&
    'content' in record
  );
}

function sharesOf(text: string) {
  const records = startRecords(text);
  return { records: records.length, known: records.filter(isGeminiRecord).length };
}

/** The members of a document. Reads up to the messages, if those before them name the session. */
function membersBefore(chunks: Iterable<Uint8Array>, isWhole = false): JsonObject {
  const members: [string, JsonValue][] = [];
  for (const part of splitDocument(chunks, listNames)) {
    if (part.kind === 'member' && !members.some(([key]) => key === part.key)) {
      const value = jsonOf(part.value);
      if (value !== undefined) members.push([part.key, value]);
    }
    if (part.kind === 'item' && !isWhole && isSession(Object.fromEntries(members))) break;
  }
  return Object.fromEntries(members);
}

function jsonOf(text: Buffer | string): JsonValue | undefined {
  try {
    return JSON.parse(text.toString()) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The parts of a document: its members together, then each message. */
function* documentParts(file: string, report: HistoryReport): Generator<HistoryPart[]> {
  const head = membersBefore(chunksOf(file)(), true);
  const facts = { line: 1, checksum: 0 };
  yield [{ kind: 'record', value: { ...head, $isDocument: true }, place: 'document', bytes: 0, ...facts }];
  const keys = new Set<string>();
  let number = 0;
  for (const part of splitDocument(chunksOf(file)(), listNames)) {
    const { bytes, kind } = part;
    if (kind === 'damage') {
      const problem = part.code === 'unfinished' ? 'unfinished' : 'damaged';
      report(part.code, `The document cannot be read after message ${number}: ${bytes} bytes are left out.`);
      yield [{ kind: 'bytes', problem, place: 'end', bytes, records: 1, ...facts }];
      continue;
    }
    const value = kind === 'end' ? undefined : jsonOf(part.value);
    if (kind === 'item') number += 1;
    const place = kind === 'item' ? `message-${number}` : `member-${kind === 'member' ? part.key : 'end'}`;
    const isHead = kind === 'end' || (kind === 'member' && value !== undefined && !keys.has(part.key));
    if (kind === 'member') keys.add(part.key);
    if (isHead) yield [{ kind: 'bytes', place, bytes, ...facts }];
    else if (value === undefined) {
      const problem = 'not JSON that an event can hold';
      yield [{ kind: 'text', value: part.value.toString(), problem, place: fitted(place), bytes, ...facts }];
    } else yield [{ kind: 'record', value, place: fitted(place), bytes, ...facts }];
  }
}

interface SessionHead {
  readonly isDocument: boolean;
  readonly metadata: JsonObject;
}

function headOf(file: string): SessionHead {
  const { text } = readHead(file);
  if (!isLines(text)) return { isDocument: true, metadata: membersBefore(chunksOf(file)()) };
  return { isDocument: false, metadata: startRecords(text).find(isSession) ?? {} };
}

/** The other file of a session: one in the old form is continued in a file beside it. */
function otherForm(file: string, sessionId: string | null): string | null {
  const other = /\.jsonl$/.test(file) ? file.replace(/l$/, '') : /\.json$/.test(file) ? `${file}l` : null;
  if (other === null || sessionId === null || !existsSync(other)) return null;
  const found = resolveOwn(other, dirname(file));
  if (found.kind !== 'own' || !found.stats.isFile()) return null;
  try {
    return headOf(other).metadata.sessionId === sessionId ? other : null;
  } catch (error) {
    if (formatErrors.is(error)) return null;
    throw error;
  }
}

const longestRoot = 4_096;

/** The folder that a session worked in, which Gemini CLI keeps beside the chats of the project. */
function cwdOf(file: string, { directories }: JsonObject): string | null {
  const [first] = Array.isArray(directories) ? directories : [];
  if (typeof first === 'string' && first !== '') return first;
  let folder = dirname(file);
  if (basename(folder) !== 'chats') folder = dirname(folder);
  if (basename(folder) !== 'chats') return null;
  const found = resolveOwn(join(dirname(folder), '.project_root'), dirname(folder));
  if (found.kind !== 'own' || !found.stats.isFile() || found.stats.size > longestRoot) return null;
  return asName(readFileSync(join(dirname(folder), '.project_root'), 'utf8').trim()) ?? null;
}

function dispatchOf(sessionId: string): string {
  return dispatchIdOf(`gemini-cli\n${sessionId}`, 0);
}

function openSession(file: string): OpenLog {
  const { isDocument, metadata } = headOf(file);
  if (!isDocument) assertRecords(file, 'gemini-cli', isGeminiRecord);
  else
    assertKnown(file, 'gemini-cli', {
      records: 1,
      known: ofSession.filter((key) => key in metadata).length < 2 ? 0 : 1,
    });
  const sessionId = asName(metadata.sessionId) ?? null;
  const other = otherForm(file, sessionId);
  // The lines continue the document.
  const files = other === null ? [file] : [file, other].sort().reverse();
  const isSubAgent = metadata.kind === 'subagent';
  const parent = isSubAgent && basename(dirname(file)) !== 'chats' ? basename(dirname(file)) : null;
  const cwd = cwdOf(file, metadata);
  const startedAt = recordedTime({ timestamp: metadata.startTime ?? null }) ?? null;
  const dispatchId =
    sessionId === null
      ? dispatchIdOf(`gemini-cli\n${basename(file)}`, startedAt ?? 0)
      : dispatchOf(sessionId);
  const project = cwd === null ? 'gemini-cli' : projectOf(cwd);
  const isMutable = isDocument || other !== null;
  return openHistory({
    format: 'gemini-cli',
    files,
    fileCount: files.length,
    dispatchId,
    ...(parent === null ? {} : { parentDispatchId: dispatchOf(parent) }),
    startedAt,
    cwd,
    taskDir: taskOf(project, parent ?? sessionId ?? basename(file), dispatchId),
    ...(sessionId === null ? { identifiedByPlace: file } : {}),
    growth: isMutable ? 'rewritten' : 'versions',
    isFolded: other !== null,
    createMapping: (report) => new GeminiMapping(report, { sessionId, cwd }),
    async *parts(report) {
      for (const one of files.toReversed())
        if (headOf(one).isDocument) yield* documentParts(one, report);
        else yield* lineParts(one, isGeminiRecord, report);
    },
  });
}

interface Answered {
  /** The checksum of the result of the call. */
  answer?: number;
}

class GeminiMapping implements HistoryMapping {
  model: string | null = null;
  readonly heads: string[] = [];
  readonly #report: HistoryReport;
  readonly #sessionId: string | null;
  readonly #cwd: string | null;
  readonly #calls = recentCalls<Answered>();
  /** By message: the entry before its first version. */
  readonly #before = new Map<string, string | null>();
  #last: string | null = null;
  #lastType = '';
  #isSubAgent = false;
  #summary: string | undefined;
  #hasInit = false;

  constructor(
    report: HistoryReport,
    { sessionId, cwd }: { readonly sessionId: string | null; readonly cwd: string | null },
  ) {
    this.#report = report;
    this.#sessionId = sessionId;
    this.#cwd = cwd;
  }

  get statusIfQuiet() {
    return this.#lastType === 'gemini' || (this.#isSubAgent && this.#summary !== undefined)
      ? 'completed'
      : 'crashed';
  }

  timeOf(record: JsonObject): number | null {
    const set = asObject(record.$set);
    const { timestamp = record.lastUpdated ?? set?.lastUpdated ?? record.startTime ?? null } = record;
    return recordedTime({ timestamp }) ?? null;
  }

  map(record: JsonObject, { name }: { readonly name: string }): MappedRecord {
    const fields = new Fields(record);
    if (asObject(record.$set) !== undefined) return this.#set(fields, name);
    if (typeof record.$rewindTo === 'string') return [this.#rewind(fields, name)];
    if (record.$isDocument === true || isSession(record)) return this.#metadata(fields);
    if (messageTypes.has(record.type)) return this.#message(fields, name);
    const item = new RecordItem(name, null, fields);
    if (typeof record.type === 'string')
      this.#report(
        'unknown_kind',
        `A record of the kind ${JSON.stringify(record.type)} is not known. It is kept as captured.`,
      );
    return [item];
  }

  #metadata(fields: Fields): RecordItem[] {
    fields.take('$isDocument', 'lastUpdated');
    if (fields.get('messages') !== undefined && Array.isArray(fields.get('messages')))
      fields.drop('messages');
    this.#isSubAgent = fields.get('kind') === 'subagent';
    const title = this.#titled(fields);
    const time = recordedTime({ timestamp: fields.get('startTime') ?? null });
    const item = new RecordItem('session', time === undefined ? null : timestampOf(time), fields);
    item.capture('system:session', {});
    return [item, ...title];
  }

  /** The summary of a session is its title; that of a sub-agent is its result. */
  #titled(fields: Fields): RecordItem[] {
    const summary = fields.name('summary');
    if (summary === undefined) return [];
    this.#summary = summary;
    const item = new RecordItem('title', null, new Fields({}));
    item.capture(
      'session:status',
      this.#isSubAgent ? { kind: 'result', result: summary } : { kind: 'title', title: summary },
    );
    return [item];
  }

  #set(fields: Fields, name: string): MappedRecord {
    const set = fields.object('$set') ?? new Fields({});
    set.take('lastUpdated');
    set.drop('sessionId', this.#sessionId);
    const titled = this.#titled(set);
    const items: RecordItem[] = [...titled];
    let twins = 0;
    for (const [at, message] of set.list('messages').entries()) {
      if (message === null) continue;
      const mapped = messageTypes.has(message.get('type')) ? this.#message(message, `${name}.${at + 1}`) : [];
      if (typeof mapped === 'string') twins += 1;
      else items.push(...mapped.map((item) => item));
      set.takeItem('messages', at);
    }
    const others = new RecordItem(name, null, fields);
    if (!isNothing(fields.rest())) {
      others.capture('system:set', {});
      items.push(others);
    }
    if (items.length > 0) return items;
    return twins > 0 ? 'twin' : 'last_updated';
  }

  /** The conversation continues from before a message. */
  #rewind(fields: Fields, name: string): RecordItem {
    const to = fields.text('$rewindTo') ?? '';
    const item = new RecordItem(name, null, fields);
    const keptThrough = this.#before.get(to);
    if (keptThrough === undefined) {
      this.#report('reference_missing', `This goes back to the message ${to}, which the file does not have.`);
      item.capture('system:rewind', { to });
      return item;
    }
    item.add('session:rewind', { keptThrough });
    this.#last = keptThrough;
    return item;
  }

  #message(fields: Fields, place: string): MappedRecord {
    const given = asItemId(fields.get('id'));
    if (given !== undefined) fields.take('id');
    const id = given ?? place;
    const time = recordedTime(fields.own);
    const timestamp = time === undefined ? null : timestampOf(time);
    fields.drop('timestamp', timestamp);
    const type = asText(fields.value('type')) ?? '';
    if (!this.#before.has(id)) this.#before.set(id, this.#last);
    const item = new RecordItem(id, timestamp, fields, type === 'gemini' ? { messageId: id } : {});
    const items = type === 'gemini' ? this.#answer(item, timestamp) : this.#received(item, type);
    const last = items.findLast(({ lastEntry }) => lastEntry !== undefined)?.lastEntry;
    if (last !== undefined) this.#last = last;
    if (last !== undefined) this.#lastType = type;
    return items.every(({ isEmpty, fields: own }) => isEmpty && isNothing(own.rest())) ? 'twin' : items;
  }

  /** A message to the model, or one of the program to the user. */
  #received(item: RecordItem, type: string): RecordItem[] {
    const { fields } = item;
    if (type !== 'user') {
      item.capture(unknownEventType('system', type), { text: fields.text('content') ?? '' });
      return [item];
    }
    const content = fields.text('content');
    const texts = content === undefined ? [] : [content];
    const parts: JsonValue[] = [];
    for (const part of fields.list('content')) {
      if (part === null) continue;
      const text = part.text('text');
      if (text !== undefined) texts.push(text);
      this.#response(part, item);
      const media = mediaOf(part);
      if (media !== null) parts.push(media);
    }
    const text = texts.join('\n');
    if (texts.length === 0 && parts.length === 0) return [item];
    // Gemini CLI writes the context of a session as a message of the user.
    const isContext = /^\s*<session_context>/.test(text);
    item.capture('user:message', {
      text,
      source: { kind: isContext ? 'system' : 'user' },
      ...(parts.length === 0 ? {} : { parts }),
    });
    return [item];
  }

  /** A result that the model is given. Its call has it already, or else this is the result. */
  #response(part: Fields, item: RecordItem): void {
    const response = part.object('functionResponse');
    const callId = asName(response?.get('id'));
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (response === undefined || callId === undefined || call === undefined) return;
    const { output, error } = answerOf(response);
    if (call.answer !== undefined) {
      if (call.answer !== checksumOf(output)) return;
    } else this.#answered(item, { callId, call, output, error, name: `result-${callId}` });
    response.take('id', 'response');
    response.drop('name', call.tool);
  }

  #answered(
    item: RecordItem,
    {
      callId,
      call,
      output,
      error,
      name,
    }: {
      callId: string;
      call: KnownCall & Answered;
      output: JsonValue;
      error: string | undefined;
      name: string;
    },
  ): void {
    const { tool, target } = call;
    call.answer = checksumOf(output);
    item.add(
      'agent:tool_result',
      {
        toolCallId: callId,
        tool,
        ...(target === undefined ? {} : { target }),
        metadata: {},
        status: error === undefined ? 'completed' : 'error',
        ...(error === undefined ? {} : { error }),
        output,
      },
      { name, cause: call.event },
    );
  }

  /** An answer of the model, with its calls and their results. */
  #answer(item: RecordItem, timestamp: string | null): RecordItem[] {
    const { fields, id } = item;
    const usage = this.#usage(fields, id, timestamp);
    const init = this.#init(timestamp);
    let thoughts = 0;
    const think = (text: string, at: string | null = timestamp) => {
      thoughts += 1;
      item.add('agent:thinking', { text }, { name: `thought-${thoughts}`, timestamp: at });
    };
    for (const thought of fields.list('thoughts')) {
      if (thought === null) continue;
      const [subject, description] = [thought.text('subject'), thought.text('description')];
      if (subject === undefined && description === undefined) continue;
      const time = recordedTime(thought.own);
      const at = time === undefined ? timestamp : timestampOf(time);
      thought.drop('timestamp', at);
      think(
        [
          ...(subject === undefined ? [] : [`**${subject}**`]),
          ...(description === undefined ? [] : [description]),
        ].join(' '),
        at,
      );
    }
    const content = fields.text('content');
    const texts = content === undefined ? [] : [content];
    const calls: RecordItem[] = [];
    for (const part of fields.list('content')) {
      if (part === null) continue;
      const text = part.text('text');
      if (part.get('thought') === true && text !== undefined) {
        part.take('thought');
        think(text);
      } else if (text !== undefined) texts.push(text);
      const media = mediaOf(part);
      if (media !== null) item.capture('agent:output', { parts: [media] }, { name: 'output' });
      const call = part.object('functionCall');
      if (call !== undefined) this.#call(call, item);
    }
    const said = texts.join('');
    if (said !== '') item.add('agent:text', { text: said });
    for (const [at, call] of fields.list('toolCalls').entries()) {
      if (call === null) continue;
      fields.takeItem('toolCalls', at);
      calls.push(...this.#called(call, item, at + 1, timestamp));
    }
    if (this.heads.length === 0 && !item.isEmpty) this.heads.push(id);
    return [...init, item, ...usage, ...calls];
  }

  #init(timestamp: string | null): RecordItem[] {
    if (this.#hasInit || this.model === null) return [];
    this.#hasInit = true;
    const item = new RecordItem('session-init', timestamp, new Fields({}));
    item.add('session:init', {
      model: this.model,
      sessionId: this.#sessionId ?? 'unknown',
      ...(this.#cwd === null ? {} : { cwd: this.#cwd }),
    });
    return [item];
  }

  #usage(fields: Fields, id: string, timestamp: string | null): RecordItem[] {
    const tokens = asObject(fields.get('tokens'));
    if (tokens === undefined) return [];
    const counts = new Fields(tokens);
    const [input = 0, output = 0, cached = 0, thoughts = 0, tool = 0] = [
      'input',
      'output',
      'cached',
      'thoughts',
      'tool',
    ].map((name) => counts.count(name));
    counts.drop('total', input + output + thoughts + tool);
    const usage =
      cached > input
        ? null
        : usageOf({
            input: input - cached + tool,
            output: output + thoughts,
            cacheRead: cached,
            reasoning: thoughts,
          });
    if (usage === null) {
      if (cached > input)
        this.#report(
          'usage_unreadable',
          'There are more cached tokens than tokens of the input. The call is not counted.',
        );
      return [];
    }
    fields.take('tokens');
    this.model = fields.name('model') ?? this.model;
    const item = new RecordItem(`${id}.inference`, timestamp, counts, { messageId: id });
    item.add('agent:inference', { model: this.model ?? 'unknown', usage });
    return [item];
  }

  /** The event of a call. A message that is written again has its calls in another form. */
  #call(call: Fields, item: RecordItem): string | undefined {
    const tool = call.name('name');
    if (tool === undefined) return undefined;
    const callId = call.name('id') ?? `${item.id}-${tool}`;
    const input = call.value('args') ?? null;
    const target = targetOf(input);
    const name = `call-${callId}`;
    const event = item.add(
      'agent:tool_call',
      { toolCallId: callId, tool, ...target, metadata: {}, input },
      { name },
    );
    if (this.#calls.get(callId) === undefined) this.#calls.set(callId, { event, tool, ...target });
    return callId;
  }

  /** A call with its result. What the program shows of it belongs to the result. */
  #called(call: Fields, message: RecordItem, at: number, timestamp: string | null): RecordItem[] {
    const callId = this.#call(call, message);
    const known = callId === undefined ? undefined : this.#calls.get(callId);
    const time = recordedTime(call.own);
    const answeredAt = time === undefined ? timestamp : timestampOf(time);
    call.drop('timestamp', answeredAt);
    const item = new RecordItem(fitted(`${message.id}.result-${callId ?? at}`), answeredAt, call);
    const status = asText(call.get('status'));
    const [only, ...more] = call.list('result');
    const isEnd = status === 'success' || status === 'error' || status === 'cancelled';
    if (callId === undefined || known === undefined || (!isEnd && only === undefined)) {
      if (!isNothing(call.rest())) item.capture('system:tool_call', {});
      return [item];
    }
    const response = more.length === 0 ? only?.object('functionResponse') : undefined;
    const answer =
      response === undefined
        ? { output: call.value('result') ?? null, error: undefined }
        : answerOf(response);
    response?.take('response');
    response?.drop('id', callId);
    response?.drop('name', known.tool);
    if (answer.output !== null) call.drop('resultDisplay', answer.output);
    if (isEnd) call.take('status');
    const failed = status === 'cancelled' ? 'The call was cancelled.' : 'The tool reported a failure.';
    const error = status === 'error' || status === 'cancelled' ? (answer.error ?? failed) : answer.error;
    this.#answered(item, { callId, call: known, output: answer.output, error, name: '' });
    return [item];
  }
}

/** What a tool gave: its text, if it gave nothing else. */
export function answerOf(response: Fields): {
  readonly output: JsonValue;
  readonly error: string | undefined;
} {
  const given = response.get('response') ?? null;
  const entries = Object.entries(asObject(given) ?? {});
  const [[key, value] = []] = entries;
  const isOnly = entries.length === 1 && value !== undefined;
  const error = asText(asObject(given)?.error)?.split('\n')[0];
  return { output: isOnly && (key === 'output' || key === 'error') ? value : given, error };
}

function checksumOf(value: JsonValue): number {
  return crc32(typeof value === 'string' ? value : JSON.stringify(value));
}

/** An image, a sound or a document of a part. Null: it has none. */
export function mediaOf(part: Fields): JsonObject | null {
  const data = part.object('inlineData');
  const [mimeType, base64] = [asName(data?.get('mimeType')), asName(data?.get('data'))];
  if (
    data === undefined ||
    mimeType === undefined ||
    base64 === undefined ||
    !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)
  )
    return null;
  data.take('mimeType', 'data');
  const kind = mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('audio/') ? 'audio' : 'document';
  return { kind, mediaType: mimeType, base64 };
}
