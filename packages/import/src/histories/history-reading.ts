import { crc32 } from 'node:zlib';
import {
  asObject,
  type ClaudeDiagnosticCode,
  DiagnosticLog,
  EventIds,
  isStorable,
  rawFields,
} from '@hansard/claude';
import {
  BalanceSheet,
  type CapturedEvent,
  type DispatchStatus,
  type JsonObject,
  type JsonValue,
  type NewEvent,
  separateContent,
  toNarrative,
} from '@hansard/events';
import type { LogRest, LogSummary, OpenLog, ReadOpenLogOptions } from '@hansard/provider';
import { entryTypes } from '../record/lost-rows.ts';
import { Fields, RecordItem } from './record-item.ts';

/** A part of a source: a record, a text that is none, or bytes without either. */
export interface HistoryPart {
  readonly kind: 'record' | 'text' | 'bytes';
  /** Of a record: its value. Of a text: the text, if it is known. */
  readonly value?: JsonValue;
  /** What is wrong with a text, or why bytes are left out. Absent: the bytes are recorded. */
  readonly problem?: string;
  /** The name of the place, such as `line-3`. */
  readonly place: string;
  readonly line: number;
  /** The bytes since the part before. */
  readonly bytes: number;
  readonly checksum: number;
  /** Of bytes: how many records they are. */
  readonly records?: number;
}

export type HistoryReport = (code: ClaudeDiagnosticCode, message: string, line?: number) => void;

/** What a mapping makes of a record: its items, or the reason why the record is left out. */
export type MappedRecord = readonly RecordItem[] | string;

/** The meaning of the records of one format, in their order. */
export interface HistoryMapping {
  map(record: JsonObject, place: { readonly name: string; readonly line: number }): MappedRecord;
  /** The time of a record, in milliseconds since 1970. */
  timeOf(record: JsonObject): number | null;
  readonly model: string | null;
  readonly heads?: readonly string[];
  /** The status that the session has once it is quiet. */
  readonly statusIfQuiet: Exclude<DispatchStatus, 'running'>;
}

/** A source that is open for reading. */
export interface HistorySource
  extends Pick<
    OpenLog,
    | 'format'
    | 'files'
    | 'dispatchId'
    | 'parentDispatchId'
    | 'startedAt'
    | 'cwd'
    | 'taskDir'
    | 'role'
    | 'identifiedByPlace'
  > {
  /** `append`: what was read stays, and the session can be continued. `versions`: the same, and a record can state an item again. `rewritten`: see `isMutable`. */
  readonly growth: 'append' | 'versions' | 'rewritten';
  readonly createMapping: (report: HistoryReport) => HistoryMapping;
  /** The parts of the source, in groups. Can be called several times. */
  parts(report: HistoryReport): AsyncIterable<Iterable<HistoryPart>> | Iterable<Iterable<HistoryPart>>;
  /** The files that `parts` reads. */
  readonly fileCount: number;
  /** Whether the last version of each item is given alone, at the place of the first one. The events are then in memory until the end. */
  readonly isFolded?: boolean;
}

const eventsOfBatch = 256;
/** A batch of long records would outlive the young generation of the heap. */
const bytesOfBatch = 256 * 1024;
/** Changes with each change of a mapping, because a session is continued only by the mapping that began it. */
const keptVersion = 1;

interface KeptReading {
  readonly version: typeof keptVersion;
  readonly records: number;
  readonly events: number;
  readonly checksum: number;
}

class HistoryReading {
  readonly #source: HistorySource;
  readonly #diagnostics = new DiagnosticLog();
  readonly #sheet = new BalanceSheet();
  readonly #ids = new EventIds();
  readonly #mapping: HistoryMapping;
  readonly #before: KeptReading | null;
  #line = 1;
  #records = 0;
  #events = 0;
  /** Of the places and checksums of all records. */
  #checksum = 0;
  #isLost = false;
  #isComplete = false;
  #isRead = false;
  #latest: number | null = null;

  constructor(source: HistorySource, before: KeptReading | null = null) {
    this.#source = source;
    this.#before = before;
    this.#mapping = source.createMapping(this.#report);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async *read({
    fidelity = 'full',
    signal,
    onProgress,
  }: ReadOpenLogOptions = {}): AsyncGenerator<CapturedEvent[]> {
    if (this.#isRead) throw new TypeError('A log is read once; open it again to read it again.');
    this.#isRead = true;
    this.#sheet.take('files', this.#source.fileCount);
    let batch: CapturedEvent[] = [];
    let [bytes, bytesBefore] = [0, 0];
    const folded = this.#source.isFolded === true ? new Map<string, CapturedEvent>() : null;
    for await (const parts of this.#source.parts(this.#report))
      for (const part of parts) {
        if (signal?.aborted) return;
        bytes += part.bytes;
        for (const event of this.#new(part, this.#take(part)))
          if (folded !== null) folded.set(event.id.replace(/:rewritten-\d+$/, ''), event);
          else batch.push(fidelity === 'full' ? event : (toNarrative(event) as CapturedEvent));
        if (this.#isLost) return;
        if (batch.length < eventsOfBatch && bytes - bytesBefore < bytesOfBatch) continue;
        if (batch.length > 0) yield batch;
        onProgress?.(bytes);
        batch = [];
        bytesBefore = bytes;
      }
    this.#isLost = this.#records < (this.#before?.records ?? 0);
    if (this.#isLost) return;
    if (this.#latest === null && this.#records > 0)
      this.#report('time_missing', 'No record has a time, so no event has one.');
    this.#isComplete = true;
    for (const [id, { retracts: _, ...event }] of folded ?? [])
      batch.push(fidelity === 'full' ? { ...event, id } : (toNarrative({ ...event, id }) as CapturedEvent));
    if (folded !== null) this.#events = folded.size;
    if (batch.length > 0) yield batch;
    onProgress?.(bytes);
  }

  summary(): LogSummary {
    const sheet = new BalanceSheet();
    sheet.add(this.#sheet.balance);
    const { fileCount } = this.#source;
    if (this.#isRead && this.#records > 0) sheet.record('files', fileCount);
    else if (this.#isRead) sheet.leaveOut('files', 'no_records', fileCount);
    const { model, heads = [], statusIfQuiet } = this.#mapping;
    return {
      records: sheet.balance.records.in,
      events: this.#isRead ? this.#events : (this.#before?.events ?? 0),
      balance: sheet.balance,
      status: 'running',
      statusIfQuiet,
      lastRecordAt: this.#latest,
      completedAt: this.#latest,
      diagnostics: this.#diagnostics.kept,
      counts: { ...this.#diagnostics.counts } as Record<string, number>,
      model,
      heads,
      kept: this.#isComplete && this.#source.growth !== 'rewritten' ? this.#kept : null,
    };
  }

  get #kept(): JsonValue {
    const [records, events, checksum] = [this.#records, this.#events, this.#checksum];
    return { version: keptVersion, records, events, checksum } satisfies KeptReading;
  }

  /** Reports what an earlier reading did not. */
  readonly #report: HistoryReport = (code, message, line = this.#line) => {
    const [file = ''] = this.#source.files;
    if (this.#records > (this.#before?.records ?? 0) || this.#before === null)
      this.#diagnostics.add(code, file, line, message);
  };

  /** The events that an earlier reading did not give. */
  #new({ kind, place, checksum }: HistoryPart, events: CapturedEvent[]): CapturedEvent[] {
    if (kind !== 'bytes') this.#checksum = crc32(`${place} ${checksum}`, this.#checksum);
    const before = this.#before;
    if (before === null || this.#records > before.records) return events;
    const isEnd = this.#records === before.records && kind !== 'bytes';
    this.#isLost ||= isEnd && (this.#checksum !== before.checksum || this.#events !== before.events);
    return [];
  }

  #take(part: HistoryPart): CapturedEvent[] {
    const { kind, value = null, bytes, problem, line } = part;
    this.#line = line;
    this.#sheet.take('bytes', bytes);
    if (kind === 'bytes') {
      const { records = 0 } = part;
      this.#sheet.take('records', records);
      if (problem === undefined) this.#sheet.record('bytes', bytes);
      else this.#sheet.leaveOut('bytes', problem, bytes);
      this.#sheet.leaveOut('records', problem ?? 'blank', records);
      return [];
    }
    this.#records += 1;
    this.#sheet.take('records');
    const record = kind === 'record' && isStorable(value) ? asObject(value) : undefined;
    if (record === undefined) return this.#notice(part);
    const time = this.#mapping.timeOf(record);
    if (time !== null) this.#latest = Math.max(this.#latest ?? time, time);
    const mapped = this.#map(record, part);
    if (typeof mapped === 'string') {
      this.#sheet.leaveOut('records', mapped);
      this.#sheet.leaveOut('bytes', mapped, bytes);
      return [];
    }
    const events = this.#captured(mapped, this.#digestOf(part));
    if (events.length === 0) {
      this.#sheet.leaveOut('records', 'repeated');
      this.#sheet.leaveOut('bytes', 'repeated', bytes);
    } else {
      this.#sheet.record('records');
      this.#sheet.record('bytes', bytes);
    }
    return events;
  }

  #map(record: JsonObject, { place, line, value = null }: HistoryPart): NewEvent[] | string {
    const mapped = this.#mapping.map(record, { name: place, line });
    if (typeof mapped === 'string') return mapped;
    const kind = typeof record.type === 'string' && record.type !== '' ? record.type : 'record';
    const events: NewEvent[] = [];
    for (const item of mapped) {
      const made = item.finish(kind);
      if (made === null) {
        this.#report(
          'wrong_value',
          'A field of this record has a value that no event can hold. The record is kept as captured.',
        );
        const whole = new RecordItem(place, null, new Fields({}));
        whole.capture('system:record', { record: value });
        return whole.finish(kind) ?? [];
      }
      events.push(...made);
    }
    return events;
  }

  #notice({
    kind,
    value = null,
    problem = 'not a record',
    place,
    line,
    bytes,
  }: HistoryPart): CapturedEvent[] {
    if (kind === 'record') this.#report('wrong_value', 'This is not a record. It is kept as a notice.');
    const raw: JsonObject = isStorable(value)
      ? rawFields(value)
      : { raw: 'a value that is nested too deeply' };
    const data: JsonObject = { problem, line, ...raw };
    const kept = typeof raw.raw === 'string' ? Buffer.byteLength(raw.raw) : bytes;
    const cut = raw.rawBytes === undefined && isStorable(value) ? 0 : Math.max(0, bytes - kept);
    this.#sheet.record('records');
    this.#sheet.leaveOut('bytes', 'cut', cut);
    this.#sheet.record('bytes', bytes - cut);
    return this.#captured([{ id: place, type: 'system:notice', timestamp: null, data }], 0);
  }

  /** The events, each under an id of its own. An event that was given before is left out, and what changed is another version of it. */
  #captured(events: readonly NewEvent[], digest: number): CapturedEvent[] {
    const captured: CapturedEvent[] = [];
    for (const [at, given] of events.entries()) {
      const { event, contents } = separateContent(given);
      for (const content of contents)
        if (this.#ids.claim(content.id) !== undefined)
          captured.push({ ...content, timestamp: null } as CapturedEvent);
      const version = this.#versioned(event, digest === 0 ? 0 : digest + at);
      if (version !== null) captured.push(version);
    }
    this.#events += captured.length;
    return captured;
  }

  get #isVersioned(): boolean {
    return this.#source.growth === 'versions' || this.#source.isFolded === true;
  }

  /** In a source that is rewritten, a version is an item that has changed since an earlier import. */
  #nameOf(id: string, version: number): string {
    if (version === 1) return id;
    return `${id}${this.#isVersioned ? ':rewritten-' : ':again-'}${version}`;
  }

  /** Of the content of a record, where that shows whether its events were given before. 0: each event shows it. */
  #digestOf({ checksum }: HistoryPart): number {
    return this.#isVersioned ? 0 : checksum;
  }

  #versioned(event: NewEvent, digest: number): CapturedEvent | null {
    const { id = '' } = event;
    // A request and bytes are named by their content.
    const isNamed = event.type === 'request:stored' || event.type === 'content:stored';
    const checksum = isNamed ? 1 : digest === 0 ? crc32(JSON.stringify(event.data)) : digest;
    for (let version = 1; ; version += 1) {
      const name = this.#nameOf(id, version);
      if (this.#ids.take(name, checksum)) {
        // Nearly all events are already what is recorded.
        if (version === 1 && event.timestamp !== undefined) return event as CapturedEvent;
        const isEntry = version > 1 && this.#isVersioned && entryTypes.test(event.type);
        return {
          ...event,
          id: name,
          timestamp: event.timestamp ?? null,
          ...(isEntry ? { retracts: [this.#nameOf(id, version - 1)] } : {}),
        } as CapturedEvent;
      }
      const isLast = !this.#ids.has(this.#nameOf(id, version + 1));
      if (isLast && this.#ids.checksumOf(name) === checksum) return null;
    }
  }
}

/** The log of a source. */
export function openHistory(source: HistorySource): OpenLog {
  const reading = new HistoryReading(source);
  const { growth, createMapping: _, parts: __, fileCount: ___, ...facts } = source;
  const log: OpenLog = {
    ...facts,
    ...(growth === 'rewritten' ? { isMutable: true } : {}),
    read: (options) => reading.read(options),
    summary: () => reading.summary(),
  };
  if (growth === 'rewritten') return log;
  return {
    ...log,
    continueAfter(value): LogRest | null {
      const kept = asObject(value);
      if (kept?.version !== keptVersion) return null;
      const rest = new HistoryReading(source, kept as unknown as KeptReading);
      return {
        read: (options) => rest.read(options),
        summary: () => rest.summary(),
        isLost: () => rest.isLost,
      };
    },
  };
}
