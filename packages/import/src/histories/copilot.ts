import { basename, dirname } from 'node:path';
import {
  asName,
  asObject,
  asText,
  dispatchIdOf,
  recordedTime,
  timestampOf,
  unknownEventType,
} from '@hansard/claude';
import { type EventLinks, isId, type JsonObject, type JsonValue } from '@hansard/events';
import type { LogImporterProvider, OpenLog } from '@hansard/provider';
import { readHead } from '../find/read-source.ts';
import { projectOf, taskOf } from '../importers/task-names.ts';
import {
  type HistoryMapping,
  type HistoryReport,
  type MappedRecord,
  openHistory,
} from './history-reading.ts';
import { assertRecords, lineParts, startRecords } from './line-parts.ts';
import { asItemId, Fields, fitted, RecordItem, recentCalls, targetOf, usageOf } from './record-item.ts';

/** Sessions of GitHub Copilot CLI: one chain of events, also of sub-agents. */
export const copilotImporter: LogImporterProvider = {
  contract: 1,
  id: 'copilot-cli',
  title: 'a session of GitHub Copilot CLI',
  detect: ({ text }) => {
    const records = startRecords(text);
    return records.filter(isCopilotRecord).length * 2 > records.length;
  },
  hasRecord: ({ text }) => startRecords(text).some(isCopilotRecord),
  open: ({ files: [file = ''] }) => [openSession(file)],
};

const kinds = /^(?:abort|(?:session|user|assistant|system|tool|hook|subagent|skill)\.[a-z_]+)$/;

function isCopilotRecord(value: JsonValue): boolean {
  const { type, data, id, timestamp } = asObject(value) ?? {};
  return (
    typeof type === 'string' &&
    kinds.test(type) &&
    asObject(data) !== undefined &&
    typeof id === 'string' &&
    typeof timestamp === 'string'
  );
}

function openSession(file: string): OpenLog {
  assertRecords(file, 'copilot-cli', isCopilotRecord);
  const records = startRecords(readHead(file).text);
  const start = asObject(records.find(({ type }) => type === 'session.start')?.data) ?? {};
  const named = asName(start.sessionId);
  const sessionId = named ?? basename(dirname(file));
  const cwd = asName(asObject(start.context)?.cwd) ?? null;
  const first = records.find(isCopilotRecord) ?? {};
  const dispatchId = dispatchIdOf(`copilot-cli\n${named ?? asText(first.id) ?? ''}`, 0);
  return openHistory({
    format: 'copilot-cli',
    files: [file],
    fileCount: 1,
    dispatchId,
    startedAt: recordedTime(first) ?? null,
    cwd,
    taskDir: taskOf(cwd === null ? 'copilot-cli' : projectOf(cwd), sessionId, dispatchId),
    ...(named === undefined ? { identifiedByPlace: file } : {}),
    growth: 'append',
    createMapping: (report) => new CopilotMapping(report, sessionId),
    parts: (report) => lineParts(file, isCopilotRecord, report),
  });
}

class CopilotMapping implements HistoryMapping {
  model: string | null = null;
  statusIfQuiet: HistoryMapping['statusIfQuiet'] = 'crashed';
  readonly heads: string[] = [];
  readonly #report: HistoryReport;
  readonly #sessionId: string;
  readonly #calls = recentCalls<{ readonly input: string }>();
  #isAborted = false;

  constructor(report: HistoryReport, sessionId: string) {
    this.#report = report;
    this.#sessionId = sessionId;
  }

  timeOf(record: JsonObject): number | null {
    return recordedTime(record) ?? null;
  }

  map(record: JsonObject, { name }: { readonly name: string }): MappedRecord {
    const fields = new Fields(record);
    const time = recordedTime(record);
    const timestamp = time === undefined ? null : timestampOf(time);
    const id = asItemId(record.id);
    if (id !== undefined) fields.take('id');
    fields.drop('timestamp', timestamp);
    const { parentId } = record;
    if (parentId === null || typeof parentId === 'string') fields.take('parentId');
    const agentId = isId(record.agentId) ? record.agentId : undefined;
    if (agentId !== undefined) fields.take('agentId');
    const links: EventLinks = agentId === undefined ? {} : { agentId };
    const item = new RecordItem(id ?? name, timestamp, fields, links);
    const data = fields.object('data');
    const type = asText(record.type) ?? '';
    if (data === undefined || !kinds.test(type)) {
      this.#report(
        'unknown_kind',
        `An event of the type ${JSON.stringify(type)} is not known. It is kept as captured.`,
      );
      item.capture(unknownEventType('system', type === '' ? 'record' : type), {});
      return [item];
    }
    const isOwn = agentId === undefined;
    const added = this.#event(type, data, item, isOwn);
    if (item.isEmpty) item.capture(unknownEventType('system', type), {});
    return [item, ...added];
  }

  #event(type: string, data: Fields, item: RecordItem, isOwn: boolean): RecordItem[] {
    const { fields } = item;
    switch (type) {
      case 'session.start':
        this.#start(data, item);
        break;
      case 'session.model_change':
        if (isOwn) this.model = asName(data.get('newModel')) ?? this.model;
        break;
      case 'user.message':
        fields.take('type');
        this.#prompt(data, item);
        if (isOwn) this.#setStatus('crashed');
        break;
      case 'system.message':
        fields.take('type');
        data.drop('role', 'system');
        item.add('agent:system_prompt', { text: data.text('content') ?? '' });
        break;
      case 'session.usage_record':
        this.#usage(data, item);
        break;
      case 'assistant.message':
        fields.take('type');
        this.#answer(data, item, isOwn);
        break;
      case 'tool.execution_start':
        this.#started(data);
        break;
      case 'tool.execution_complete':
        fields.take('type');
        this.#result(data, item);
        break;
      case 'subagent.started':
        return this.#agent(data, item);
      case 'abort':
        this.#isAborted = true;
        if (isOwn) this.statusIfQuiet = 'aborted';
        break;
    }
    return [];
  }

  #setStatus(status: HistoryMapping['statusIfQuiet']): void {
    this.#isAborted = false;
    this.statusIfQuiet = status;
  }

  #start(data: Fields, item: RecordItem): void {
    this.model = asName(data.get('selectedModel')) ?? this.model;
    const cwd = asName(asObject(data.get('context'))?.cwd);
    item.capture('system:session_start', {});
    if (this.model !== null)
      item.add(
        'session:init',
        { model: this.model, sessionId: this.#sessionId, ...(cwd === undefined ? {} : { cwd }) },
        { name: 'init' },
      );
  }

  #prompt(data: Fields, item: RecordItem): void {
    const text = data.text('content') ?? '';
    const wrapped = data.name('transformedContent');
    const source = asText(data.get('source'));
    const isAgent = source?.startsWith('agent-') === true;
    item.add('user:message', {
      text,
      source: { kind: isAgent ? 'agent' : source === undefined || source === 'user' ? 'user' : 'system' },
      ...(wrapped === undefined || wrapped === text ? {} : { wrapped }),
    });
  }

  /** The record of a call comes before its message. Both name the call of the model. */
  #usage(data: Fields, item: RecordItem): void {
    const given = data.object('usage');
    if (given === undefined) return;
    const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0] = [
      'inputTokens',
      'outputTokens',
      'cacheReadTokens',
      'cacheWriteTokens',
      'reasoningTokens',
    ].map((name) => given.count(name));
    if (cacheRead + cacheWrite > input) {
      this.#report(
        'usage_unreadable',
        'There are more cached tokens than tokens of the input. The call is not counted.',
      );
      return;
    }
    const usage = usageOf({
      input: input - cacheRead - cacheWrite,
      output,
      cacheRead,
      cacheWrite,
      reasoning,
    });
    if (usage === null) return;
    const model = given.name('model') ?? this.model ?? 'unknown';
    const durationMs = given.amount('duration');
    item.fields.take('type');
    item.add(
      'agent:inference',
      { model, usage, ...(durationMs === undefined ? {} : { durationMs }) },
      { messageId: messageOf(given, item) },
    );
  }

  #answer(data: Fields, item: RecordItem, isOwn: boolean): void {
    const messageId = messageOf(data, item);
    const thought = data.name('reasoningText');
    if (thought !== undefined) item.add('agent:thinking', { text: thought }, { messageId, name: 'thinking' });
    const text = data.text('content');
    if (text !== undefined && text !== '') item.add('agent:text', { text }, { messageId });
    const calls = data.list('toolRequests');
    for (const [at, call] of calls.entries()) {
      const tool = call?.name('name');
      if (call === null || call === undefined || tool === undefined) continue;
      const toolCallId = call.name('toolCallId') ?? `${item.id}-${at + 1}`;
      const input = call.value('arguments') ?? null;
      const target = targetOf(input);
      const event = item.add(
        'agent:tool_call',
        { toolCallId, tool, ...target, metadata: {}, input },
        { messageId, name: `call-${at + 1}` },
      );
      this.#calls.set(toolCallId, { event, tool, ...target, input: JSON.stringify(input) });
    }
    if (item.isEmpty) item.add('agent:output', { parts: [] }, { messageId });
    if (this.heads.length === 0) this.heads.push(messageId);
    if (isOwn && !this.#isAborted) this.statusIfQuiet = calls.length === 0 ? 'completed' : 'crashed';
  }

  /** The start of a call states the call once more. */
  #started(data: Fields): void {
    const call = this.#calls.get(asText(data.get('toolCallId')) ?? '');
    if (call === undefined) return;
    data.drop('toolName', call.tool);
    if (JSON.stringify(data.get('arguments') ?? null) === call.input) data.take('arguments');
  }

  #result(data: Fields, item: RecordItem): void {
    const toolCallId = data.name('toolCallId') ?? item.id;
    const call = this.#calls.get(toolCallId);
    const result = data.object('result');
    const exitCode = data.object('shellExecution')?.count('exitCode');
    const hasFailed = data.get('success') === false;
    data.drop('success', true, false);
    const output = result?.text('content');
    const stated = asText(asObject(data.get('error'))?.message);
    const failed =
      exitCode !== undefined && exitCode !== 0 ? `The command exited with ${exitCode}.` : undefined;
    const error = failed ?? (hasFailed ? (stated ?? 'The tool reported a failure.') : undefined);
    item.add(
      'agent:tool_result',
      {
        toolCallId,
        tool: call?.tool ?? 'unknown',
        ...(call?.target === undefined ? {} : { target: call.target }),
        metadata: exitCode === undefined ? {} : { exitCode },
        status: error === undefined ? 'completed' : 'error',
        ...(error === undefined ? {} : { error }),
        ...(output === undefined ? {} : { output }),
      },
      call === undefined ? {} : { cause: call.event },
    );
  }

  #agent(data: Fields, item: RecordItem): RecordItem[] {
    const [name, model] = [
      asName(data.get('agentDisplayName')) ?? asName(data.get('agentName')),
      asName(data.get('model')),
    ];
    const call = this.#calls.get(asText(data.get('toolCallId')) ?? '');
    const created = {
      ...(name === undefined ? {} : { name }),
      ...(model === undefined ? {} : { languageModel: model }),
    };
    item.add('agent:created', created, call === undefined ? {} : { cause: call.event });
    return [];
  }
}

/** The message of an answer, named by the call of the model. */
function messageOf(fields: Fields, item: RecordItem): string {
  const call = asName(fields.get('apiCallId'));
  const message = asName(fields.get('messageId'));
  return call === undefined ? (message === undefined ? item.id : fitted(message)) : fitted(call);
}
