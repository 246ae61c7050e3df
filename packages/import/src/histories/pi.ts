import { basename } from 'node:path';
import {
  asName,
  asObject,
  asText,
  dispatchIdOf,
  recordedTime,
  timestampOf,
  unknownEventType,
} from '@hansard/claude';
import type { JsonObject, JsonValue } from '@hansard/events';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { readHead } from '../find/read-source.ts';
import { projectOf, taskOf } from '../importers/task-names.ts';
import { EntryTree } from './entry-tree.ts';
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

/** Sessions of pi: a header, and the entries of a tree. */
export const piImporter: LogImporterProvider = {
  contract: 1,
  id: 'pi',
  title: 'a session of pi',
  detect: ({ text }) => {
    const records = startRecords(text);
    return records.some(isHeader) && records.filter(isEntry).length * 2 > records.length;
  },
  hasRecord: ({ text }) => startRecords(text).some(isHeader),
  open: ({ files: [file = ''] }) => [openSession(file)],
};

function isHeader({ type, id, cwd, timestamp }: JsonObject): boolean {
  return (
    type === 'session' && typeof id === 'string' && typeof cwd === 'string' && typeof timestamp === 'string'
  );
}

function isEntry(value: JsonValue): boolean {
  const record = asObject(value) ?? {};
  if (isHeader(record)) return true;
  const { type, timestamp } = record;
  return (
    typeof timestamp === 'string' &&
    typeof type === 'string' &&
    entryKinds.has(type) &&
    (type !== 'message' || typeof asObject(record.message)?.role === 'string') &&
    !('sessionId' in record)
  );
}

const entryKinds: ReadonlySet<string> = new Set(
  'message model_change thinking_level_change usage compaction branch_summary context_edit custom custom_message label session_info'.split(
    ' ',
  ),
);

function dispatchOf(id: string, timestamp: JsonValue | undefined): string {
  // A caller of pi may choose the id.
  return dispatchIdOf(`pi\n${id}\n${asText(timestamp) ?? ''}`, 0);
}

/** A file of version 1, also after a newer pi has written it again: its entries have no ids, or ids of that moment. */
function isOfFirstVersion(header: JsonObject): boolean {
  return (
    header.version === undefined || 'provider' in header || 'modelId' in header || 'branchedFrom' in header
  );
}

function openSession(file: string): OpenLog {
  assertRecords(file, 'pi', isEntry);
  const header = startRecords(readHead(file).text).find(isHeader) ?? {};
  const sessionId = asName(header.id) ?? null;
  const cwd = asName(header.cwd) ?? null;
  const startedAt = recordedTime(header) ?? null;
  const dispatchId = dispatchOf(sessionId ?? basename(file), header.timestamp);
  return openHistory({
    format: 'pi',
    files: [file],
    fileCount: 1,
    dispatchId,
    startedAt,
    cwd,
    taskDir: taskOf(cwd === null ? 'pi' : projectOf(cwd), sessionId ?? basename(file), dispatchId),
    ...(sessionId === null ? { identifiedByPlace: file } : {}),
    growth: isOfFirstVersion(header) ? 'rewritten' : 'append',
    createMapping: (report) => new PiMapping(report, header),
    parts: (report) => lineParts(file, isEntry, report),
  });
}

/** The origin that the path of a file names: `TIME_ID.jsonl`. */
function originOf(path: string): { product: string; sessionId: string; dispatchId?: string } | null {
  const file = path.split(/[\\/]/).at(-1) ?? '';
  if (!file.endsWith('.jsonl') || file.length > 512) return null;
  const name = file.slice(0, -'.jsonl'.length);
  if (name === '') return null;
  const [, day, hour, minute, second, milli, id] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z_(.+)$/.exec(name) ?? [];
  if (id === undefined) return { product: 'pi', sessionId: name };
  return {
    product: 'pi',
    sessionId: id,
    dispatchId: dispatchOf(id, `${day}T${hour}:${minute}:${second}.${milli}Z`),
  };
}

class PiMapping implements HistoryMapping {
  model: string | null = null;
  statusIfQuiet: HistoryMapping['statusIfQuiet'] = 'crashed';
  readonly heads: string[] = [];
  readonly #report: HistoryReport;
  readonly #header: JsonObject;
  readonly #isFirstVersion: boolean;
  readonly #calls = recentCalls();
  readonly #tree = new EntryTree();
  /** By entry, and by line: its first event. */
  readonly #firsts = new Map<string | number, string>();
  readonly #names = new Map<string, number>();
  #hasInit = false;
  #isHeadNext = true;

  constructor(report: HistoryReport, header: JsonObject) {
    this.#report = report;
    this.#header = header;
    this.#isFirstVersion = isOfFirstVersion(header);
  }

  timeOf(record: JsonObject): number | null {
    return recordedTime(record) ?? null;
  }

  map(record: JsonObject, place: { readonly name: string; readonly line: number }): MappedRecord {
    const fields = new Fields(record);
    const time = recordedTime(record);
    const timestamp = time === undefined ? null : timestampOf(time);
    if (record.type === 'session' && 'cwd' in record) return this.#session(fields, timestamp);
    const id = asItemId(record.id);
    const item = new RecordItem(this.#nameOf(record, time, place.name), timestamp, fields);
    fields.drop('timestamp', timestamp);
    if (id !== undefined || this.#isFirstVersion) fields.take('id');
    const others = this.#entry(item, asText(record.type) ?? '', timestamp);
    const items = [...others, item];
    const entry = items.findLast(({ lastEntry }) => lastEntry !== undefined)?.lastEntry;
    const { parentId } = record;
    const parent = this.#isFirstVersion ? undefined : parentId;
    if (parentId === null || typeof parentId === 'string') fields.take('parentId');
    if (typeof parent === 'string' && !this.#tree.has(parent))
      this.#report(
        'reference_missing',
        `The entry follows ${JSON.stringify(parent)}, which the file does not have.`,
      );
    const keptThrough = this.#tree.add(id, parent, entry);
    const rewind = keptThrough === undefined ? [] : [rewindTo(item.id, keptThrough, timestamp)];
    this.#firsts.set(place.line - 1, item.id);
    if (id !== undefined) this.#firsts.set(id, item.id);
    return [...rewind, ...items];
  }

  /** An entry is named by its id and its time, because an id has eight digits. In the first version its time and kind name it. */
  #nameOf({ id, type, message }: JsonObject, time: number | undefined, place: string): string {
    const own = asItemId(id);
    if (time === undefined) return this.#isFirstVersion ? place : (own ?? place);
    const at = time.toString(36);
    if (!this.#isFirstVersion) return own === undefined ? place : `${own.slice(0, 64)}-${at}`;
    const kind = `${asText(type) ?? ''}-${asText(asObject(message)?.role) ?? ''}`
      .replace(/[^A-Za-z-]/g, '')
      .slice(0, 40);
    const number = (this.#names.get(`${at} ${kind}`) ?? 0) + 1;
    this.#names.set(`${at} ${kind}`, number);
    return `at-${at}-${kind}${number === 1 ? '' : `-${number}`}`;
  }

  #session(fields: Fields, timestamp: string | null): RecordItem[] {
    const item = new RecordItem('session', timestamp, fields);
    fields.drop('timestamp', timestamp);
    if (this.#isFirstVersion) fields.drop('version', 3);
    item.capture('system:session', {});
    const path = asName(fields.get('parentSession')) ?? asName(fields.get('branchedFrom'));
    const from = path === undefined ? null : originOf(path);
    if (from !== null) item.add('session:fork', { from, kind: 'fork' }, { name: 'fork' });
    return [item];
  }

  #useModel(model: string | undefined, timestamp: string | null): RecordItem[] {
    this.model = model ?? this.model;
    if (this.#hasInit || this.model === null) return [];
    this.#hasInit = true;
    const item = new RecordItem('session-init', timestamp, new Fields({}));
    const cwd = asName(this.#header.cwd);
    item.add('session:init', {
      model: this.model,
      sessionId: asName(this.#header.id) ?? 'unknown',
      ...(cwd === undefined ? {} : { cwd }),
    });
    return [item];
  }

  /** Adds the events of an entry, and returns those that come before it. */
  #entry(item: RecordItem, type: string, timestamp: string | null): RecordItem[] {
    const { fields } = item;
    switch (type) {
      case 'message':
        return this.#message(item, timestamp);
      case 'model_change':
        item.capture('system:model_change', {});
        return this.#useModel(asName(fields.get('modelId')), timestamp);
      case 'session_info': {
        const title = asName(fields.get('name'));
        if (title !== undefined) fields.take('name');
        item.capture(
          'session:status',
          title === undefined ? { kind: 'session_info' } : { kind: 'title', title },
        );
        return [];
      }
      case 'compaction':
        this.#compaction(item);
        return [];
      case 'branch_summary':
      case 'custom_message':
        this.#given(item, type === 'branch_summary' ? 'summary' : 'content');
        return [];
      case 'usage':
        this.#usage(fields, item, '', asName(fields.get('model')));
        return [];
      default:
        if (!entryKinds.has(type))
          this.#report(
            'unknown_kind',
            `An entry of the type ${JSON.stringify(type)} is not known. It is kept as captured.`,
          );
        item.capture(unknownEventType('system', type === '' ? 'entry' : type), {});
        return [];
    }
  }

  #compaction(item: RecordItem): void {
    const { fields } = item;
    const summary = fields.text('summary');
    const preTokens = fields.count('tokensBefore');
    const [id, index] = [fields.get('firstKeptEntryId'), fields.get('firstKeptEntryIndex')];
    const keptFrom = this.#firsts.get(typeof id === 'string' ? id : typeof index === 'number' ? index : '');
    if (keptFrom !== undefined) fields.take('firstKeptEntryId', 'firstKeptEntryIndex');
    this.#isHeadNext = true;
    fields.take('type');
    item.add('session:compaction', {
      trigger: fields.get('fromHook') === true ? 'hook' : 'unknown',
      ...(summary === undefined ? {} : { summary }),
      ...(preTokens === undefined ? {} : { preTokens }),
      ...(keptFrom === undefined ? {} : { keptFrom }),
    });
    this.#usage(fields, item, 'inference');
  }

  /** What an extension, or a summary of another branch, gives to the model. */
  #given(item: RecordItem, name: 'summary' | 'content'): void {
    const { text, parts } = contentOf(item.fields, name);
    item.capture('user:message', {
      text,
      source: { kind: 'system' },
      ...(parts.length === 0 ? {} : { parts }),
    });
    this.#usage(item.fields, item, 'inference');
  }

  #message(item: RecordItem, timestamp: string | null): RecordItem[] {
    const { fields } = item;
    const message = fields.object('message');
    const role = asText(message?.get('role'));
    if (message === undefined || role === undefined) {
      item.capture('system:message', {});
      return [];
    }
    const known = ['user', 'assistant', 'toolResult', 'bashExecution', 'system', 'custom', 'hookMessage'];
    if (known.includes(role)) {
      message.take('role');
      fields.take('type');
    } else
      this.#report(
        'unknown_kind',
        `A message of the role ${JSON.stringify(role)} is not known. It is kept as captured.`,
      );
    if (role !== 'assistant' && role !== 'custom') this.statusIfQuiet = 'crashed';
    message.count('timestamp');
    if (role === 'assistant') return this.#answer(item, message, timestamp);
    if (role === 'toolResult') this.#result(item, message);
    else if (role === 'bashExecution') this.#command(item, message);
    else if (role === 'system') this.#instructions(item, message);
    else if (role === 'user' || role === 'custom' || role === 'hookMessage') {
      const { text, parts } = contentOf(message, 'content');
      item.capture('user:message', {
        text,
        source: { kind: role === 'user' ? 'user' : 'system' },
        ...(parts.length === 0 ? {} : { parts }),
      });
    } else item.capture('system:message', {});
    return [];
  }

  #answer(item: RecordItem, message: Fields, timestamp: string | null): RecordItem[] {
    const init = this.#useModel(message.name('model'), timestamp);
    const links = { messageId: item.id };
    if (this.#isHeadNext) this.heads.push(item.id);
    this.#isHeadNext = false;
    let blocks = 0;
    const nameOf = () => {
      blocks += 1;
      return { ...links, ...(blocks === 1 ? {} : { name: `block-${blocks}` }) };
    };
    const content = message.text('content');
    if (content !== undefined && content !== '') item.add('agent:text', { text: content }, nameOf());
    for (const block of message.list('content')) if (block !== null) this.#block(block, item, nameOf);
    if (item.isEmpty) item.add('agent:output', { parts: [] }, nameOf());
    const stopReason = message.name('stopReason');
    this.statusIfQuiet =
      stopReason === 'stop' ? 'completed' : stopReason === 'aborted' ? 'aborted' : 'crashed';
    const isUsed = this.#usage(message, item, 'inference', undefined, stopReason);
    return isUsed || stopReason === undefined ? init : this.#stopped(init, item, stopReason);
  }

  /** An answer without a usage still says why it stopped. */
  #stopped(init: RecordItem[], item: RecordItem, reason: string): RecordItem[] {
    item.capture('system:answer', { stopReason: reason }, { name: 'stopped' });
    return init;
  }

  #block(block: Fields, item: RecordItem, nameOf: () => { messageId: string; name?: string }): void {
    const [text, thinking] = [block.get('text'), block.get('thinking')];
    const [type, tool] = [block.get('type'), block.get('name')];
    const links = nameOf();
    if (type === 'text' && typeof text === 'string') {
      block.take('type', 'text');
      item.add('agent:text', { text }, links);
    } else if (type === 'thinking' && typeof thinking === 'string') {
      block.take('type', 'thinking');
      const signature = block.name('thinkingSignature');
      item.add(
        'agent:thinking',
        { text: thinking, ...(signature === undefined ? {} : { signature }) },
        links,
      );
    } else if (type === 'toolCall' && typeof tool === 'string' && tool !== '') {
      block.take('type', 'name');
      const toolCallId = block.name('id') ?? item.id;
      const input = block.value('arguments') ?? null;
      const target = targetOf(input);
      const event = item.add('agent:tool_call', { toolCallId, tool, ...target, metadata: {}, input }, links);
      this.#calls.set(toolCallId, { event, tool, ...target });
    } else item.capture('system:block', {}, links);
  }

  #result(item: RecordItem, message: Fields): void {
    const toolCallId = message.name('toolCallId') ?? item.id;
    const call = this.#calls.get(toolCallId);
    const tool = message.name('toolName') ?? call?.tool ?? 'unknown';
    const isError = message.get('isError') === true;
    message.drop('isError', true, false);
    const durationMs = message.amount('durationMs');
    const { text, parts } = contentOf(message, 'content');
    item.capture(
      'agent:tool_result',
      {
        toolCallId,
        tool,
        ...(call?.target === undefined ? {} : { target: call.target }),
        metadata: {},
        status: isError ? 'error' : 'completed',
        ...(durationMs === undefined ? {} : { durationMs }),
        ...(isError ? { error: text.split('\n')[0] || 'The tool reported a failure.' } : {}),
        output: parts.length === 0 ? text : [...(text === '' ? [] : [{ kind: 'text', text }]), ...parts],
      },
      call === undefined ? {} : { cause: call.event },
    );
    this.#usage(message, item, 'inference');
  }

  /** A command that the user typed, with its output. */
  #command(item: RecordItem, message: Fields): void {
    const [text = '', output] = [message.text('command'), message.text('output')];
    item.capture('user:message', {
      text,
      source: { kind: 'user' },
      ...(output === undefined || output === ''
        ? {}
        : { parts: [{ kind: 'text', text: output, name: 'output' }] }),
    });
  }

  #instructions(item: RecordItem, message: Fields): void {
    const sections = message.object('sections');
    const texts = Object.keys(sections?.own ?? {}).flatMap((name) => sections?.text(name) ?? []);
    const content = message.text('content');
    item.add('agent:system_prompt', {
      text: [...(content === undefined || content === '' ? [] : [content]), ...texts].join('\n\n'),
    });
  }

  /** Adds a call of a model. Its parts do not overlap; reasoning is in the output. False: nothing was used. */
  #usage(fields: Fields, item: RecordItem, name: string, model?: string, stopReason?: string): boolean {
    const given = fields.object('usage');
    if (given === undefined) {
      if (item.isEmpty) item.capture('system:usage', {});
      return false;
    }
    const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0] = [
      'input',
      'output',
      'cacheRead',
      'cacheWrite',
      'reasoning',
    ].map((part) => given.count(part));
    given.drop('totalTokens', input + output + cacheRead + cacheWrite);
    const usage = usageOf({ input, output, cacheRead, cacheWrite, reasoning });
    const total = given.object('cost')?.get('total');
    if (usage === null) {
      if (item.isEmpty) item.capture('system:usage', {});
      return false;
    }
    // A cost of 0 says that pi has no price for the model.
    const isCost = typeof total === 'number' && Number.isFinite(total) && total > 0;
    if (isCost) given.object('cost')?.take('total');
    item.add(
      'agent:inference',
      {
        model: model ?? this.model ?? 'unknown',
        usage,
        ...(isCost ? { costUsd: total } : {}),
        ...(stopReason === undefined ? {} : { stopReason }),
      },
      name === '' ? {} : { name, messageId: item.id },
    );
    return true;
  }
}

/** The text of a content, and its images. */
function contentOf(fields: Fields, name: string): { readonly text: string; readonly parts: JsonObject[] } {
  const own = fields.text(name);
  const texts = own === undefined ? [] : [own];
  const parts: JsonObject[] = [];
  for (const block of fields.list(name)) {
    if (block === null) continue;
    const [type, data, mediaType] = [
      block.get('type'),
      asName(block.get('data')),
      asName(block.get('mimeType')),
    ];
    if (type === 'text' && typeof block.get('text') === 'string') {
      texts.push(block.text('text') ?? '');
      block.take('type');
    } else if (
      type === 'image' &&
      data !== undefined &&
      mediaType !== undefined &&
      /^[A-Za-z0-9+/]+={0,2}$/.test(data)
    ) {
      block.take('type', 'data', 'mimeType');
      parts.push({ kind: 'image', mediaType, base64: data });
    }
  }
  return { text: texts.join('\n'), parts: isNothing(parts) ? [] : parts };
}
