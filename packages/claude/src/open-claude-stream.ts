import {
  BalanceSheet,
  type CapturedEvent,
  type Fidelity,
  formatErrors,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type NewEvent,
  shortened,
  toNarrative,
  toTimestamp,
} from '@hansard/events';
import {
  type ClaudeLog,
  type ClaudeLogSummary,
  type LogHead,
  type ReadLogOptions,
  readLogHead,
} from './claude-log.ts';
import { type ClaudeDiagnosticCode, DiagnosticLog } from './lines/claude-diagnostic.ts';
import { asName, asObject, longestStepBack, rawFields, recordedTime } from './lines/json-fields.ts';
import { bytesCut, type LeftOutReason, LineBalance } from './lines/line-balance.ts';
import { isStorable, type LogPart, readParts } from './lines/log-parts.ts';
import { type FileLine, readLines } from './lines/read-lines.ts';
import { type LinePart, splitRecords } from './lines/split-records.ts';
import { type ClaudeMapping, createClaudeMapping } from './map/create-claude-mapping.ts';
import type { ClaudeActivity } from './map/event-writer.ts';
import { EventIds } from './map/ids.ts';
import { newNotice } from './map/mapping-step.ts';
import { statementProblems } from './map/run-totals.ts';
import { TurnStatus } from './map/turn-status.ts';
import { unreadableUsage } from './map/usage.ts';

/** Whether a value is a message of a stream, and not an object nested in a broken message. */
function isStreamMessage(value: JsonValue): boolean {
  return isPlainObject(value) && typeof value.type === 'string' && ('session_id' in value || 'uuid' in value);
}

const eventsOfBatch = 512;

/** The figures of a message that cannot be read. */
function problemsOf({ type, message, modelUsage }: JsonObject): string[] {
  if (type === 'result') return statementProblems(modelUsage);
  const problem = type === 'assistant' ? unreadableUsage(asObject(message)?.usage) : null;
  return problem === null ? [] : [problem];
}

/** Why a part has no event: a piece of an answer that comes as a whole, or a message that was there before. */
function reasonOf(part: LogPart, events: readonly CapturedEvent[]): LeftOutReason {
  if (events.length > 0 || part.kind === 'damaged') return null;
  return asObject(part.record)?.type === 'stream_event' ? 'streamed' : 'repeated';
}

/** One reading of a recorded stream. */
class StreamReading {
  readonly #head: LogHead;
  readonly #diagnostics = new DiagnosticLog();
  readonly #ids = new EventIds();
  readonly #balance = new LineBalance();
  #lines = 0;
  #records = 0;
  #events = 0;
  /** The latest time. Null: no message has had one. */
  #clock: number | null = null;
  #isRead = false;
  #model: string | null = null;
  #end: CapturedEvent | null = null;
  readonly #turn = new TurnStatus();
  #mapping: ClaudeMapping | null = null;

  constructor(head: LogHead) {
    this.#head = head;
  }

  async *read({
    fidelity = 'full',
    signal,
    onProgress,
  }: ReadLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#isRead) throw new TypeError('A log is read once; open it again to read it again.');
    this.#isRead = true;
    const { path } = this.#head;
    const mapping = createClaudeMapping({ fidelity, now: () => null });
    this.#mapping = mapping;
    let bytes = 0;
    let batch: CapturedEvent[] = [];
    for await (const lines of readParts(path, isStreamMessage, (...diagnostic) =>
      this.#report(...diagnostic),
    )) {
      for (const line of lines) {
        if (signal?.aborted) return;
        this.#lines += 1;
        bytes += line.bytes;
        for (const part of line.parts) {
          const events = this.#map(mapping, part, fidelity);
          this.#balance.addPart(reasonOf(part, events), bytesCut(part, events, line.bytes));
          batch.push(...events);
        }
        this.#balance.endLine(line.bytes, line.isWhole);
        if (batch.length < eventsOfBatch) continue;
        yield batch;
        onProgress?.(bytes);
        batch = [];
      }
    }
    if (this.#diagnostics.counts.unfinished !== undefined) this.#balance.endUnfinished();
    batch.push(...this.#finish(mapping));
    if (batch.length > 0) yield batch;
    onProgress?.(bytes);
  }

  summary(): ClaudeLogSummary {
    const sheet = new BalanceSheet();
    this.#balance.addTo(sheet);
    const { status, structuredResult } = this.#end?.data ?? {};
    const ended = status === 'completed' || status === 'aborted' ? status : 'crashed';
    return {
      lines: this.#lines,
      records: this.#records,
      events: this.#events,
      counts: this.#diagnostics.counts,
      diagnostics: this.#diagnostics.kept,
      model: this.#model,
      completedAt: this.#clock,
      lastRecordAt: this.#clock,
      status: this.#end === null ? 'running' : ended,
      statusIfQuiet: this.#turn.facts.statusIfQuiet,
      openCalls: this.#mapping?.openCalls ?? [],
      lastMessage: null,
      summarises: [],
      heads: [],
      openRewind: null,
      structuredResult: structuredResult ?? null,
      kept: null,
      balance: sheet.balance,
    };
  }

  #map(mapping: ClaudeMapping, part: LogPart, fidelity: Fidelity): CapturedEvent[] {
    const { line } = part;
    const place = `line-${line}${part.part === 1 ? '' : `:${part.part}`}`;
    if (part.kind === 'damaged') {
      const raw = part.raw === undefined ? {} : rawFields(part.raw);
      const notice: NewEvent = { type: 'system:notice', data: { problem: part.problem, line, ...raw } };
      return [this.#take(fidelity === 'full' ? notice : toNarrative(notice), place, 0)];
    }
    this.#records += 1;
    const message = asObject(part.record) ?? {};
    if (!isStorable(part.record) || asName(message.type) === undefined)
      this.#report('unknown_kind', line, 'This is not a message; it is kept as a notice.');
    if (asName(message.parent_tool_use_id) === undefined) this.#turn.observe(message);
    const time = recordedTime(message);
    const back = time === undefined || this.#clock === null ? 0 : this.#clock - time;
    if (back > longestStepBack && time !== this.#head.startedAt)
      this.#report('time_goes_back', line, `The time is ${back} ms before the latest; it is kept unchanged.`);
    for (const problem of problemsOf(message)) this.#report('usage_unreadable', line, problem);
    if (time !== undefined) this.#clock = Math.max(this.#clock ?? time, time);
    const activities = mapping.map(part.record, { line });
    if (activities.length === 0 && message.type !== 'stream_event' && message.subtype !== 'init')
      this.#report('id_repeated', line, 'This message occurs again; it is kept once.');
    return activities.flatMap((activity, index) =>
      activity.kind === 'event' ? [this.#take(activity.event, place, index)] : [],
    );
  }

  /** Completes an event of the mapping. The id derives from the place, so that another import finds the same one. */
  #take(event: NewEvent, place: string, index: number): CapturedEvent {
    const wanted = event.id ?? `${place}${index === 0 ? '' : `.${index}`}`;
    const id = this.#ids.claim(wanted) ?? `${place}..${index}`;
    const captured = { ...event, id, timestamp: event.timestamp ?? null };
    this.#events += 1;
    if (captured.type === 'session:init' && typeof captured.data.model === 'string')
      this.#model ??= captured.data.model;
    if (captured.type === 'session:complete') this.#end = captured;
    return captured;
  }

  /** Reports a missing end, and returns the events of messages that are over. */
  #finish(mapping: ClaudeMapping): CapturedEvent[] {
    const last = Math.max(1, this.#lines);
    const events = mapping
      .finish({ mayContinue: true })
      .flatMap((activity, index) =>
        activity.kind === 'event' ? [this.#take(activity.event, 'end', index)] : [],
      );
    if (this.#end === null)
      this.#report('no_result', last, 'The stream ends without a result: its dispatch is marked as running.');
    if (!this.#head.hasTime) this.#report('time_missing', 1, 'No message has a time, so no event has one.');
    return events;
  }

  #report(code: ClaudeDiagnosticCode, line: number, message: string): void {
    this.#diagnostics.add(code, this.#head.path, line, message);
  }
}

/**
 * Opens a recorded stream of the Agent SDK for import: the messages of one run, one per line. Reads up to the first
 * message with a time.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function openClaudeStream(path: string): Promise<ClaudeLog> {
  const head = await readLogHead(path, isStreamMessage, { isNamedBySession: false });
  const reading = new StreamReading(head);
  return {
    format: 'claude-stream',
    files: [path],
    bytes: head.bytes,
    dispatchId: head.dispatchId,
    sessionId: head.sessionId,
    continues: null,
    cwd: head.cwd,
    startedAt: head.startedAt,
    hasTime: head.hasTime,
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
    continueAfter: () => null,
  };
}

/**
 * Maps the lines of a recorded stream: the activities of each line, then those of the end. The events of a message without a time
 * have no time, or `now` if the whole stream has no time. After an abort it reads no further line.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function* readClaudeStream(
  path: string,
  fidelity: Fidelity,
  now: () => number,
  signal: AbortSignal,
): AsyncGenerator<ClaudeActivity[]> {
  const isTimed = (await findClaudeStreamStart(path, signal)) !== undefined;
  const arrival = () => (isTimed ? null : now());
  const mapping = createClaudeMapping({ fidelity, now: arrival });
  const arrivedAt = () => (isTimed ? null : toTimestamp(now()));
  let hasResult = false;
  for await (const line of readLines(path)) {
    if (signal.aborted) break;
    const activities = partsOf(line).flatMap((part) => {
      const place = { file: path, line: line.number };
      if (part.kind === 'damaged') {
        const event = newNotice(part.problem, place, arrivedAt(), part.raw);
        return [{ kind: 'event' as const, event: fidelity === 'full' ? event : toNarrative(event) }];
      }
      return mapping.map(part.record, place);
    });
    hasResult ||= activities.some(isResult);
    if (activities.length > 0) yield activities;
  }
  const last = mapping.finish();
  if (!hasResult && !signal.aborted) {
    const event = newNotice('the stream ends without a result', { file: path }, arrivedAt());
    last.push({ kind: 'event', event });
  }
  yield last;
}

function partsOf(line: FileLine): LinePart[] {
  if (line.isTooLong) {
    const problem = `a line of ${line.bytes} bytes, longer than the 100 MB that are read`;
    return [{ kind: 'damaged', problem, raw: line.text }];
  }
  if (line.text.trim() === '') return [];
  const parts = splitRecords(line.text);
  const problem = 'not UTF-8: the invalid bytes were replaced by U+FFFD';
  return line.isUtf8 ? parts : [{ kind: 'damaged', problem }, ...parts];
}

/**
 * The first recorded time of a file. Reads no further than that. Undefined if the file has none, or after an abort.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function findClaudeStreamStart(path: string, signal: AbortSignal): Promise<number | undefined> {
  let hasMessage = false;
  let firstLine: FileLine | undefined;
  for await (const line of readLines(path)) {
    if (signal.aborted) return undefined;
    if (line.text.trim() === '') continue;
    firstLine ??= line;
    for (const message of messagesOf(line)) {
      hasMessage = true;
      const time = recordedTime(message);
      if (time !== undefined) return time;
    }
  }
  if (hasMessage) return undefined;
  if (firstLine === undefined) {
    throw formatErrors.error('FORMAT_EMPTY', `The stream ${path} is empty.`, {
      details: { file: path },
    });
  }
  throw formatErrors.error(
    'FORMAT_NOT_JSONL',
    `${path} is not a recorded stream: none of its lines is a message, a JSON object with a type. ` +
      `Line ${firstLine.number} begins with ${JSON.stringify(shortened(firstLine.text, 60))}.`,
    { details: { file: path, line: firstLine.number } },
  );
}

function messagesOf(line: FileLine): JsonObject[] {
  return partsOf(line).flatMap((part) => {
    const message = part.kind === 'record' ? asObject(part.record) : undefined;
    return message === undefined || asName(message.type) === undefined ? [] : [message];
  });
}

function isResult(activity: ClaudeActivity): boolean {
  return activity.kind === 'event' && activity.event.type === 'session:complete';
}
