import {
  type CapturedEvent,
  type Fidelity,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type NewEvent,
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
import { asName, asObject, rawFields } from './lines/json-fields.ts';
import { isStorable, type LogPart, readParts } from './lines/log-parts.ts';
import { longestStepBack, recordedTime } from './lines/recorded-time.ts';
import { type ClaudeMapping, createClaudeMapping } from './map/create-claude-mapping.ts';
import { EventIds } from './map/ids.ts';
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

/** One reading of a recorded stream. */
class StreamReading {
  readonly #head: LogHead;
  readonly #diagnostics = new DiagnosticLog();
  readonly #ids = new EventIds();
  #lines = 0;
  #records = 0;
  #events = 0;
  #clock = 0;
  #startsAt = 0;
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
    startsAt,
    signal,
    onProgress,
  }: ReadLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#isRead) throw new TypeError('A log is read once; open it again to read it again.');
    this.#isRead = true;
    const { path, hasTime, startedAt } = this.#head;
    this.#startsAt = hasTime ? startedAt : (startsAt ?? startedAt);
    this.#clock = this.#startsAt;
    const mapping = createClaudeMapping({ fidelity, now: () => this.#clock });
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
        for (const part of line.parts) batch.push(...this.#map(mapping, part, fidelity));
        if (batch.length < eventsOfBatch) continue;
        yield batch;
        onProgress?.(bytes);
        batch = [];
      }
    }
    batch.push(...this.#finish(mapping));
    if (batch.length > 0) yield batch;
    onProgress?.(bytes);
  }

  summary(): ClaudeLogSummary {
    const { status, structuredResult } = this.#end?.data ?? {};
    const ended = status === 'completed' || status === 'aborted' ? status : 'crashed';
    return {
      lines: this.#lines,
      records: this.#records,
      events: this.#events,
      counts: this.#diagnostics.counts,
      diagnostics: this.#diagnostics.kept,
      model: this.#model,
      completedAt: Math.max(this.#startsAt, this.#clock),
      lastRecordAt: this.#head.hasTime ? this.#clock : null,
      status: this.#end === null ? 'running' : ended,
      statusIfQuiet: this.#turn.facts.statusIfQuiet,
      openCalls: this.#mapping?.openCalls ?? [],
      lastMessage: null,
      summarises: [],
      structuredResult: structuredResult ?? null,
      kept: null,
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
    if (time !== undefined && time < this.#clock - longestStepBack && time !== this.#startsAt)
      this.#report(
        'time_goes_back',
        line,
        `The time is ${this.#clock - time} ms before the latest; it is kept unchanged.`,
      );
    for (const problem of problemsOf(message)) this.#report('usage_unreadable', line, problem);
    this.#clock = Math.max(this.#clock, time ?? this.#clock);
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
    const captured = { ...event, id, timestamp: event.timestamp ?? toTimestamp(this.#clock) };
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
    if (!this.#head.hasTime)
      this.#report(
        'time_missing',
        1,
        'No message has a time; all get the time at which the file was written.',
      );
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
  const head = await readLogHead(path, isStreamMessage);
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
