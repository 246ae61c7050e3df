import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  asObject,
  bytesCut,
  type ClaudeDiagnosticCode,
  DiagnosticLog,
  EventIds,
  isStorable,
  type LogPart,
  rawFields,
  readParts,
  recordedTime,
} from '@hansard/claude';
import {
  BalanceSheet,
  type CapturedEvent,
  type Diagnostic,
  type DispatchStatus,
  type Fidelity,
  formatErrors,
  type JsonObject,
  type JsonValue,
  type NewEvent,
  type SourceBalance,
  toNarrative,
} from '@hansard/events';
import { CodexMapping, type RecordPlace, type SettledRecord } from './codex-mapping.ts';
import { isCodexRecord } from './detect-codex-format.ts';
import { dispatchOfThread, type ThreadFacts, threadFactsOf } from './thread-facts.ts';

/** A thread of Codex that is open for reading. */
export interface CodexLog extends ThreadFacts {
  readonly file: string;
  /** A ULID derived from the product and the id of the thread; without an id, from the name of the file. */
  readonly dispatchId: string;
  /** The dispatch of the thread that created this one. */
  readonly parentDispatchId: string | null;
  /** Milliseconds since 1970: the first time in the records. Null: none has one. */
  readonly startedAt: number | null;
  /** The events in batches. Can be called once per log. @throws FORMAT_UNREADABLE */
  read(options?: ReadCodexOptions): AsyncGenerator<CapturedEvent[]>;
  /** Counts and diagnostics. Complete when `read` has ended. */
  summary(): CodexLogSummary;
  /**
   * The rest of the log after an earlier reading, whose summary had `kept`. All records are parsed, because a later record can depend on any of
   * them, but only events that are new are given. Null: this version did not keep it.
   */
  continueAfter(kept: JsonValue): CodexLogRest | null;
}

/** The rest of a log. */
interface CodexLogRest extends Pick<CodexLog, 'read' | 'summary'> {
  /** Whether the log does not begin with what was read then. `read` has then given nothing. */
  isLost(): boolean;
}

interface ReadCodexOptions {
  /** Absent: `full`. */
  readonly fidelity?: Fidelity;
  /** Stops reading between two batches. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the number of bytes read so far. */
  readonly onProgress?: (bytes: number) => void;
}

interface CodexLogSummary {
  readonly lines: number;
  readonly records: number;
  readonly events: number;
  /**
   * The reasons for bytes that are left out: `twin` of another record, `unfinished` or decided by the next record,
   * `encrypted`, `cut` by a notice, and `blank` lines.
   */
  readonly balance: SourceBalance;
  /** The first 20 of each code. */
  readonly diagnostics: readonly Diagnostic[];
  readonly counts: Readonly<Record<string, number>>;
  readonly model: string | null;
  /** The latest time of all records, in milliseconds since 1970. Null: none has one. */
  readonly completedAt: number | null;
  /** The ids of the first answers: of the thread, and after each compaction. A copied head has those of its origin. */
  readonly heads: readonly string[];
  /** `running`: the last turn has no end. */
  readonly status: DispatchStatus;
  /** What `continueAfter` needs after this reading. It holds no content. */
  readonly kept: JsonValue | null;
}

const eventsOfBatch = 256;
/** A batch of long records would outlive the young generation of the heap. */
const bytesOfBatch = 256 * 1024;
/** Changes with each change of the mapping, because a thread is continued only by the mapping that began it. */
const keptVersion = 1;

/** How much of a rollout was read, and its checksum. */
interface KeptReading {
  readonly version: typeof keptVersion;
  readonly records: number;
  readonly events: number;
  readonly checksum: number;
}

function asKeptReading(value: JsonValue): KeptReading | null {
  const kept = asObject(value);
  return kept?.version === keptVersion ? (kept as unknown as KeptReading) : null;
}
/** How many records at the start of a file are looked at for the facts of its thread. */
const mostBeforeMeta = 64;

interface RolloutHead {
  readonly facts: ThreadFacts;
  readonly startedAt: number | null;
}

async function readHead(path: string): Promise<RolloutHead> {
  let time: number | undefined;
  let records = 0;
  for await (const lines of readParts(path, isCodexRecord, () => {}))
    for (const { parts } of lines)
      for (const part of parts) {
        const record = part.kind === 'record' ? asObject(part.record) : undefined;
        if (record === undefined || !isCodexRecord(record)) continue;
        records += 1;
        time ??= recordedTime(record);
        const facts = record.type === 'session_meta' ? threadFactsOf(asObject(record.payload) ?? {}) : null;
        if (facts !== null || records === mostBeforeMeta)
          return { facts: facts ?? threadFactsOf({}), startedAt: time ?? null };
      }
  if (records === 0) await refuse(path);
  return { facts: threadFactsOf({}), startedAt: time ?? null };
}

async function refuse(path: string): Promise<never> {
  const { size } = await stat(path);
  const details = { details: { file: path } };
  if (size === 0) throw formatErrors.error('FORMAT_EMPTY', `${path} is empty.`, details);
  throw formatErrors.error(
    'FORMAT_NOT_JSONL',
    `${path} is not a rollout of Codex: none of its ${size} bytes belong to a record.`,
    details,
  );
}

type Report = Parameters<typeof readParts>[2];

class RolloutReading {
  readonly #path: string;
  readonly #head: RolloutHead;
  readonly #diagnostics = new DiagnosticLog();
  readonly #sheet = new BalanceSheet();
  readonly #ids = new EventIds();
  readonly #mapping: CodexMapping;
  readonly #before: KeptReading | null;
  #line = 1;
  #lines = 0;
  #records = 0;
  #events = 0;
  /** Of the places and checksums of all records. */
  #checksum = 0;
  #isLost = false;
  #isComplete = false;
  #latest: number | null = null;
  #fidelity: Fidelity = 'full';
  #isRead = false;

  constructor(path: string, head: RolloutHead, before: KeptReading | null = null) {
    this.#path = path;
    this.#head = head;
    this.#before = before;
    this.#mapping = new CodexMapping((code, message) => this.#report(code, this.#line, message));
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async *read({
    fidelity = 'full',
    signal,
    onProgress,
  }: ReadCodexOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#isRead) throw new TypeError('A log is read once; open it again to read it again.');
    this.#isRead = true;
    this.#fidelity = fidelity;
    this.#sheet.take('files');
    let bytes = 0;
    /** Bytes that belong to the next record. */
    let waiting = 0;
    let batch: CapturedEvent[] = [];
    let bytesBefore = 0;
    const report: Report = (code, line, message) => this.#report(code, line, message, 0);
    for await (const lines of readParts(this.#path, isCodexRecord, report))
      for (const { parts, bytes: ofLine, isWhole } of lines) {
        if (signal?.aborted) return;
        this.#lines += 1;
        bytes += ofLine;
        waiting += ofLine;
        for (const part of parts) {
          for (const event of this.#new(part, this.#take(part, waiting))) batch.push(event);
          waiting = 0;
        }
        if (isWhole && waiting > 0) {
          this.#sheet.take('bytes', waiting);
          this.#sheet.leaveOut('bytes', 'blank', waiting);
          waiting = 0;
        }
        if (this.#isLost) return;
        if (batch.length < eventsOfBatch && bytes - bytesBefore < bytesOfBatch) continue;
        if (batch.length > 0) yield batch;
        onProgress?.(bytes);
        batch = [];
        bytesBefore = bytes;
      }
    this.#isLost = this.#records < (this.#before?.records ?? 0);
    if (this.#isLost) return;
    this.#finish(waiting);
    this.#isComplete = true;
    if (batch.length > 0) yield batch;
    onProgress?.(bytes);
  }

  summary(): CodexLogSummary {
    const sheet = new BalanceSheet();
    sheet.add(this.#sheet.balance);
    for (const { bytes } of this.#mapping.heldPlaces) {
      sheet.leaveOut('records', 'unfinished');
      sheet.leaveOut('bytes', 'unfinished', bytes);
    }
    if (this.#isRead && this.#records > 0) sheet.record('files');
    else if (this.#isRead) sheet.leaveOut('files', 'no_records');
    return {
      lines: this.#lines,
      records: this.#records,
      events: this.#isRead ? this.#events : (this.#before?.events ?? 0),
      balance: sheet.balance,
      diagnostics: this.#diagnostics.kept,
      counts: this.#diagnostics.counts,
      model: this.#mapping.model,
      completedAt: this.#latest,
      heads: this.#mapping.heads,
      status: this.#mapping.status,
      kept: this.#isComplete ? this.#kept : null,
    };
  }

  get #kept(): JsonValue {
    const [records, events, checksum] = [this.#records, this.#events, this.#checksum];
    return { version: keptVersion, records, events, checksum } satisfies KeptReading;
  }

  /** Reports what an earlier reading did not. `taken`: 0 before the record at fault is taken, otherwise 1. */
  #report(code: ClaudeDiagnosticCode, line: number, message: string, taken = 1): void {
    const before = this.#before?.records ?? 0;
    if (this.#records - taken >= before) this.#diagnostics.add(code, this.#path, line, message);
  }

  /** The events that an earlier reading did not give. */
  #new({ line, part, checksum, ...content }: LogPart, events: CapturedEvent[]): CapturedEvent[] {
    const own = content.kind === 'damaged' && content.raw !== undefined ? crc32(content.raw) : checksum;
    this.#checksum = crc32(`${line} ${part} ${own}`, this.#checksum);
    const before = this.#before;
    if (before === null || this.#records > before.records) return events;
    const isEnd = this.#records === before.records;
    this.#isLost = isEnd && (this.#checksum !== before.checksum || this.#events !== before.events);
    return [];
  }

  #take(part: LogPart, bytes: number): CapturedEvent[] {
    this.#line = part.line;
    this.#records += 1;
    this.#sheet.take('records');
    this.#sheet.take('bytes', bytes);
    const record = part.kind === 'record' && isStorable(part.record) ? asObject(part.record) : undefined;
    const place = { id: this.#idOf(part, record), line: part.line, bytes };
    if (record === undefined) return this.#notice(part, place);
    const time = recordedTime(record);
    if (time !== undefined) this.#latest = Math.max(this.#latest ?? time, time);
    return this.#mapping.take(record, place).flatMap((settled) => this.#account(settled));
  }

  /** A record is named by its ordinal, otherwise by its place. */
  #idOf({ line, part }: LogPart, record: JsonObject | undefined): string {
    const ordinal = record?.ordinal;
    const isNumber = typeof ordinal === 'number' && Number.isSafeInteger(ordinal) && ordinal >= 0;
    const named = isNumber ? this.#ids.claim(`ordinal:${ordinal}`) : undefined;
    return named ?? `line-${line}${part === 1 ? '' : `:${part}`}`;
  }

  #notice(part: LogPart, place: RecordPlace): CapturedEvent[] {
    const isText = part.kind === 'damaged';
    const problem = isText ? part.problem : 'not a record of Codex';
    if (!isText) this.#report('unknown_kind', place.line, 'This is not a record. It is kept as a notice.');
    const raw = isText ? (part.raw === undefined ? {} : rawFields(part.raw)) : rawFields(part.record);
    const kept = isText || isStorable(part.record) ? raw : { raw: 'a value that is nested too deeply' };
    const event: CapturedEvent = {
      id: place.id,
      type: 'system:notice',
      timestamp: null,
      data: { problem, line: place.line, ...kept },
    };
    this.#sheet.record('records');
    const cut = Math.min(place.bytes, bytesCut(part, [event], place.bytes));
    this.#sheet.leaveOut('bytes', 'cut', cut);
    this.#sheet.record('bytes', place.bytes - cut);
    return this.#captured([event]);
  }

  #account({ place, events, encrypted }: SettledRecord): CapturedEvent[] {
    if (events.length === 0) {
      this.#sheet.leaveOut('records', 'twin');
      this.#sheet.leaveOut('bytes', 'twin', place.bytes);
      return [];
    }
    const left = Math.min(place.bytes, encrypted);
    this.#sheet.record('records');
    this.#sheet.leaveOut('bytes', 'encrypted', left);
    this.#sheet.record('bytes', place.bytes - left);
    return this.#captured(events);
  }

  #captured(events: readonly NewEvent[]): CapturedEvent[] {
    const captured: CapturedEvent[] = [];
    for (const event of events) {
      const { id = '', type } = event;
      // The log stores the same bytes once.
      if (type === 'content:stored' && this.#ids.claim(id) === undefined) continue;
      const whole = { ...event, id, timestamp: event.timestamp ?? null };
      captured.push(this.#fidelity === 'full' ? whole : (toNarrative(whole) as CapturedEvent));
    }
    this.#events += captured.length;
    return captured;
  }

  #finish(waiting: number): void {
    if (waiting > 0) {
      this.#sheet.take('bytes', waiting);
      this.#sheet.leaveOut('bytes', 'unfinished', waiting);
    }
    if (this.#diagnostics.counts.unfinished !== undefined) {
      this.#sheet.take('records');
      this.#sheet.leaveOut('records', 'unfinished');
    }
    if (this.#head.facts.threadId === null)
      this.#diagnostics.add(
        'id_missing',
        this.#path,
        1,
        'No record names the thread. The name of the file does.',
      );
    if (this.#latest === null)
      this.#diagnostics.add('time_missing', this.#path, 1, 'No record has a time, so no event has one.');
  }
}

/**
 * Opens a rollout of Codex: one thread, one record a line. Reads up to the first `session_meta`.
 * @throws FORMAT_UNREADABLE, FORMAT_EMPTY, FORMAT_NOT_JSONL
 */
export async function openCodexRollout(file: string): Promise<CodexLog> {
  const head = await readHead(file);
  const { facts, startedAt } = head;
  const reading = new RolloutReading(file, head);
  return {
    ...facts,
    file,
    startedAt,
    dispatchId: dispatchOfThread(facts.threadId ?? basename(file).replace(/\.jsonl(?:\.gz|\.zst)?$/, '')),
    parentDispatchId: facts.parentThreadId === null ? null : dispatchOfThread(facts.parentThreadId),
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
    continueAfter(value) {
      const kept = asKeptReading(value);
      if (kept === null) return null;
      const rest = new RolloutReading(file, head, kept);
      return {
        read: (options) => rest.read(options),
        summary: () => rest.summary(),
        isLost: () => rest.isLost,
      };
    },
  };
}
