import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
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
import type { JsonObject, JsonValue } from '@hansard/events';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { readHead } from '../find/read-source.ts';
import { projectOf, taskOf } from '../importers/task-names.ts';
import { EntryTree } from './entry-tree.ts';
import { answerOf, mediaOf } from './gemini.ts';
import {
  type HistoryMapping,
  type HistoryReport,
  type MappedRecord,
  openHistory,
} from './history-reading.ts';
import { assertRecords, lineParts, startRecords } from './line-parts.ts';
import {
  asItemId,
  Fields,
  isNothing,
  RecordItem,
  recentCalls,
  rewindTo,
  targetOf,
  usageOf,
} from './record-item.ts';

/** Sessions of Qwen Code: records that each name the one before, in the words of Claude Code, with the parts of Gemini. */
export const qwenImporter: LogImporterProvider = {
  contract: 1,
  id: 'qwen-code',
  title: 'a session of Qwen Code',
  detect: ({ text }) => {
    const records = startRecords(text);
    return records.filter(isQwenRecord).length * 2 > records.length;
  },
  hasRecord: ({ text }) => startRecords(text).some(isQwenRecord),
  open: ({ files: [file = ''] }) => [openSession(file)],
};

function isQwenRecord(value: JsonValue): boolean {
  const { uuid, sessionId, type, message, ...record } = asObject(value) ?? {};
  if (typeof uuid !== 'string' || typeof sessionId !== 'string' || typeof type !== 'string') return false;
  return Array.isArray(asObject(message)?.parts) || 'systemPayload' in record || 'toolCallResult' in record;
}

function dispatchOf(sessionId: string, agentId: string | null): string {
  return dispatchIdOf(`qwen-code\n${sessionId}${agentId === null ? '' : `\n${agentId}`}`, 0);
}

function openSession(file: string): OpenLog {
  assertRecords(file, 'qwen-code', isQwenRecord);
  const records = startRecords(readHead(file).text);
  const head = records.find(isQwenRecord) ?? {};
  const sessionId = asName(head.sessionId) ?? basename(file);
  const agentId = asName(head.agentId) ?? null;
  const cwd = asName(head.cwd) ?? null;
  const dispatchId = dispatchOf(sessionId, agentId);
  return openHistory({
    format: 'qwen-code',
    files: [file],
    fileCount: 1,
    dispatchId,
    ...(agentId === null ? {} : { parentDispatchId: dispatchOf(sessionId, null) }),
    startedAt: recordedTime(head) ?? null,
    cwd,
    taskDir: taskOf(cwd === null ? 'qwen-code' : projectOf(cwd), sessionId, dispatchId),
    growth: 'append',
    createMapping: (report) =>
      new QwenMapping(report, {
        sessionId,
        agentId,
        cwd,
        model: agentId === null ? null : modelBeside(file),
      }),
    parts: (report) => lineParts(file, isQwenRecord, report),
  });
}

const longestMeta = 64 * 1024;

/** The model of a sub-agent, which only the file beside it names. */
function modelBeside(file: string): string | null {
  const path = file.replace(/\.jsonl$/, '.meta.json');
  const found = path === file ? null : resolveOwn(path, dirname(file));
  if (found?.kind !== 'own' || !found.stats.isFile() || found.stats.size > longestMeta) return null;
  try {
    return asName(asObject(JSON.parse(readFileSync(path, 'utf8')))?.model) ?? null;
  } catch {
    // It can be half written. The next import of a grown file reads it again.
    return null;
  }
}

interface Session {
  readonly sessionId: string;
  readonly agentId: string | null;
  readonly cwd: string | null;
  /** The model until a record names one. */
  readonly model: string | null;
}

const knownTypes: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool_result', 'system']);

class QwenMapping implements HistoryMapping {
  model: string | null = null;
  statusIfQuiet: HistoryMapping['statusIfQuiet'] = 'crashed';
  readonly heads: string[] = [];
  readonly #report: HistoryReport;
  readonly #session: Session;
  readonly #tree = new EntryTree();
  readonly #calls = recentCalls();
  #hasInit = false;
  #hasFork = false;
  #prompts = 0;

  constructor(report: HistoryReport, session: Session) {
    this.#report = report;
    this.#session = session;
    this.model = session.model;
  }

  timeOf(record: JsonObject): number | null {
    return recordedTime(record) ?? null;
  }

  map(record: JsonObject, { name }: { readonly name: string }): MappedRecord {
    const fields = new Fields(record);
    const time = recordedTime(record);
    const timestamp = time === undefined ? null : timestampOf(time);
    const id = asItemId(record.uuid);
    if (id !== undefined) fields.take('uuid');
    fields.drop('timestamp', timestamp);
    fields.drop('sessionId', this.#session.sessionId);
    fields.drop('cwd', this.#session.cwd);
    const type = asText(record.type) ?? '';
    const item = new RecordItem(
      id ?? name,
      timestamp,
      fields,
      type === 'assistant' ? { messageId: id ?? name } : {},
    );
    const before = [...this.#fork(record, timestamp), ...this.#entry(item, type, timestamp)];
    const entry = item.lastEntry;
    const { parentUuid } = record;
    if (parentUuid === null || typeof parentUuid === 'string') fields.take('parentUuid');
    // A record whose parent is not in the file continues the file.
    const parent = parentUuid === null || this.#tree.has(parentUuid) ? parentUuid : undefined;
    const keptThrough = this.#tree.add(id, parent, entry);
    const rewind = keptThrough === undefined ? [] : [rewindTo(item.id, keptThrough, timestamp)];
    return [...rewind, ...before, item];
  }

  #fork(record: JsonObject, timestamp: string | null): RecordItem[] {
    const sessionId = asName(asObject(record.forkedFrom)?.sessionId);
    if (this.#hasFork || sessionId === undefined) return [];
    this.#hasFork = true;
    const item = new RecordItem('fork', timestamp, new Fields({}));
    item.add('session:fork', {
      from: { product: 'qwen-code', sessionId, dispatchId: dispatchOf(sessionId, null) },
      kind: 'fork',
    });
    return [item];
  }

  #entry(item: RecordItem, type: string, timestamp: string | null): RecordItem[] {
    const { fields } = item;
    const message = fields.object('message');
    if (type === 'system') return this.#system(item, timestamp);
    if (!knownTypes.has(type) || message === undefined) {
      if (!knownTypes.has(type))
        this.#report(
          'unknown_kind',
          `A record of the type ${JSON.stringify(type)} is not known. It is kept as captured.`,
        );
      item.capture(unknownEventType('system', type === '' ? 'record' : type), {});
      return [];
    }
    fields.take('type');
    message.drop('role', type === 'assistant' ? 'model' : 'user');
    if (type === 'assistant') return this.#answer(item, message, timestamp);
    this.statusIfQuiet = 'crashed';
    if (type === 'tool_result') this.#results(item, message);
    else this.#prompt(item, message);
    return [];
  }

  #prompt(item: RecordItem, message: Fields): void {
    const texts: string[] = [];
    const parts: JsonValue[] = [];
    for (const part of message.list('parts')) {
      if (part === null) continue;
      const text = part.text('text');
      if (text !== undefined) texts.push(text);
      const media = mediaOf(part);
      if (media !== null) parts.push(media);
    }
    item.capture('user:message', {
      text: texts.join('\n'),
      source: this.#sourceOf(item.fields),
      ...(parts.length === 0 ? {} : { parts }),
    });
  }

  /** Who wrote a message, as its provenance says. The first message of a sub-agent is its task. */
  #sourceOf(fields: Fields): JsonObject {
    const provenance = fields.get('provenance');
    if (provenance === 'real_user') return { kind: 'user' };
    if (provenance !== undefined && provenance !== null) return { kind: 'system' };
    if (this.#session.agentId === null) return { kind: 'user' };
    this.#prompts += 1;
    return this.#prompts === 1
      ? { kind: 'agent', dispatchId: dispatchOf(this.#session.sessionId, null) }
      : { kind: 'external' };
  }

  #answer(item: RecordItem, message: Fields, timestamp: string | null): RecordItem[] {
    const { fields, id } = item;
    const init = this.#init(fields.name('model'), timestamp);
    let [blocks, calls] = [0, 0];
    const nameOf = () => {
      blocks += 1;
      return blocks === 1 ? {} : { name: `part-${blocks}` };
    };
    for (const part of message.list('parts')) {
      if (part === null) continue;
      const text = part.text('text');
      const isThought = part.get('thought') === true;
      if (text !== undefined && isThought) part.take('thought');
      if (text !== undefined) item.add(isThought ? 'agent:thinking' : 'agent:text', { text }, nameOf());
      const media = mediaOf(part);
      if (media !== null) item.capture('agent:output', { parts: [media] }, nameOf());
      const call = part.object('functionCall');
      const tool = call?.name('name');
      if (call === undefined || tool === undefined) continue;
      calls += 1;
      const toolCallId = call.name('id') ?? `${id}-${calls}`;
      const input = call.value('args') ?? null;
      const target = targetOf(input);
      const event = item.add(
        'agent:tool_call',
        { toolCallId, tool, ...target, metadata: {}, input },
        nameOf(),
      );
      this.#calls.set(toolCallId, { event, tool, ...target });
    }
    if (item.isEmpty) item.add('agent:output', { parts: [] });
    if (this.heads.length === 0) this.heads.push(id);
    const isUsed = this.#usage(fields.object('usageMetadata'), item);
    // An answer that was interrupted has its text and no usage.
    this.statusIfQuiet = isUsed && calls === 0 ? 'completed' : 'crashed';
    return init;
  }

  #init(model: string | undefined, timestamp: string | null): RecordItem[] {
    this.model = model ?? this.model;
    if (this.#hasInit || this.model === null) return [];
    this.#hasInit = true;
    const item = new RecordItem('session-init', timestamp, new Fields({}));
    const { sessionId, cwd } = this.#session;
    item.add('session:init', { model: this.model, sessionId, ...(cwd === null ? {} : { cwd }) });
    return [item];
  }

  /** The prompt has what a cache had. Some models count thoughts in the output, as the total shows. */
  #usage(given: Fields | undefined, item: RecordItem): boolean {
    if (given === undefined) return false;
    const [prompt = 0, candidates = 0, thoughts = 0, cached = 0] = [
      'promptTokenCount',
      'candidatesTokenCount',
      'thoughtsTokenCount',
      'cachedContentTokenCount',
    ].map((name) => given.count(name));
    const isApart = given.get('totalTokenCount') === prompt + candidates + thoughts;
    const output = isApart ? candidates + thoughts : candidates;
    given.drop('totalTokenCount', prompt + output);
    if (cached > prompt)
      this.#report(
        'usage_unreadable',
        'There are more cached tokens than tokens of the prompt. The call is not counted.',
      );
    const usage =
      cached > prompt
        ? null
        : usageOf({ input: prompt - cached, output, cacheRead: cached, reasoning: thoughts });
    if (usage === null) return false;
    item.add('agent:inference', { model: this.model ?? 'unknown', usage }, { name: 'inference' });
    return true;
  }

  #results(item: RecordItem, message: Fields): void {
    const result = item.fields.object('toolCallResult');
    let results = 0;
    for (const part of message.list('parts')) {
      const response = part?.object('functionResponse');
      if (response === undefined) continue;
      results += 1;
      this.#result(response, results === 1 ? result : undefined, item, results);
    }
    if (results === 0) item.capture('system:tool_result', {});
  }

  #result(response: Fields, result: Fields | undefined, item: RecordItem, at: number): void {
    const toolCallId = response.name('id') ?? item.id;
    const call = this.#calls.get(toolCallId);
    const tool = response.name('name') ?? call?.tool ?? 'unknown';
    const { output, error: stated } = answerOf(response);
    response.take('response');
    result?.drop('callId', toolCallId);
    const display = result?.object('resultDisplay');
    const exitCode = display?.count('exitCode');
    const status = result?.get('status');
    const durationMs = result?.amount('durationMs');
    const failed =
      exitCode !== undefined && exitCode !== 0 ? `The command exited with ${exitCode}.` : undefined;
    const error =
      failed ??
      stated ??
      (status === 'error' || status === 'cancelled' ? 'The tool reported a failure.' : undefined);
    item.capture(
      'agent:tool_result',
      {
        toolCallId,
        tool,
        ...(call?.target === undefined ? {} : { target: call.target }),
        metadata: exitCode === undefined ? {} : { exitCode },
        status: error === undefined ? 'completed' : 'error',
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(error === undefined ? {} : { error }),
        output,
      },
      { ...(at === 1 ? {} : { name: `result-${at}` }), ...(call === undefined ? {} : { cause: call.event }) },
    );
  }

  /** A call of an agent that the program itself runs, such as the one that extracts memories, is recorded in no other place. */
  #system(item: RecordItem, timestamp: string | null): RecordItem[] {
    const subtype = asText(item.fields.get('subtype')) ?? 'system';
    item.capture(unknownEventType('system', subtype), {});
    const event = asObject(asObject(item.fields.get('systemPayload'))?.uiEvent) ?? {};
    const isOwn =
      event['event.name'] === 'qwen-code.api_response' &&
      asText(event.subagent_type)?.startsWith('managed-') === true;
    if (!isOwn) return [];
    const counts = new Fields({
      promptTokenCount: event.input_token_count ?? null,
      candidatesTokenCount: event.output_token_count ?? null,
      thoughtsTokenCount: event.thoughts_token_count ?? null,
      cachedContentTokenCount: event.cached_content_token_count ?? null,
      totalTokenCount: event.total_token_count ?? null,
    });
    const call = new RecordItem(`${item.id}.call`, timestamp, new Fields({}), {
      messageId: `${item.id}.call`,
    });
    const before = this.model;
    this.model = asName(event.model) ?? this.model;
    const isUsed = this.#usage(counts, call);
    this.model = before;
    return isUsed && isNothing(counts.rest()) ? [call] : [];
  }
}
