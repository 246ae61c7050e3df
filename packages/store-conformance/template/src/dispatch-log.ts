import { appendFileSync, existsSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { type CapturedEvent, type DispatchEnvelope, type StoreRepair, storeErrors } from '@hansard/provider';
import { dispatchExists, eventConflict, hasSameContent, orMissing, withFile } from '@hansard/store-kit';

/** One line of a dispatch's file: its new envelope, the events of one append, or the epoch of a claim. */
type DispatchRecord =
  | { readonly envelope: DispatchEnvelope }
  | { readonly events: readonly CapturedEvent[] }
  | { readonly epoch: number };

/** The content of the file of one dispatch. A batch is one line, so a torn line contains all of it or nothing. */
export interface DispatchLog {
  readonly file: string;
  envelope: DispatchEnvelope;
  /** The epoch of the last claim. 1 is that of the creation. */
  epoch: number;
  readonly events: CapturedEvent[];
  readonly positions: Map<string, number>;
  /** The bytes of the whole lines. */
  size: number;
  /** Whether a failed append may have left a part of its line after them. */
  isTorn: boolean;
  /** The repair that was made when the file was opened. */
  readonly repaired: Omit<StoreRepair, 'taskDir' | 'dispatchId'> | null;
}

/** The file is renamed into place when it is whole, so that a killed process leaves no empty one. @throws STORE_DISPATCH_EXISTS */
export function createDispatchLog(file: string, taskDir: string, envelope: DispatchEnvelope): DispatchLog {
  if (existsSync(file)) throw dispatchExists(taskDir, envelope.dispatchId);
  const line = toLine({ envelope });
  withFile('create', file, () => {
    writeFileSync(`${file}.tmp`, line);
    renameSync(`${file}.tmp`, file);
  });
  return {
    file,
    envelope: structuredClone(envelope),
    epoch: 1,
    events: [],
    positions: new Map(),
    size: Buffer.byteLength(line),
    isTorn: false,
    repaired: null,
  };
}

/** Reads a file, or returns null if there is none. An incomplete last line is removed. @throws STORE_CORRUPT */
export function readDispatchLog(file: string): DispatchLog | null {
  const text = withFile('read', file, () => orMissing(() => readFileSync(file, 'utf8')));
  if (text === null) return null;
  const lines = text.split('\n');
  const torn = lines.pop() ?? '';
  const records = lines.map((line, index) => parseLine(file, line, index + 1));
  const first = records[0];
  if (first === undefined || !('envelope' in first)) {
    throw storeErrors.error(
      'STORE_CORRUPT',
      `${file} does not begin with an envelope. Restore it from a copy.`,
      {
        details: { file, offset: 0 },
      },
    );
  }
  const log: DispatchLog = {
    file,
    envelope: first.envelope,
    epoch: 1,
    events: [],
    positions: new Map(),
    size: Buffer.byteLength(text) - Buffer.byteLength(torn),
    isTorn: false,
    repaired: cutTorn(file, text, torn),
  };
  for (const record of records) {
    if ('envelope' in record) log.envelope = record.envelope;
    else if ('epoch' in record) log.epoch = record.epoch;
    else addEvents(log, record.events);
  }
  return log;
}

function cutTorn(file: string, text: string, torn: string): DispatchLog['repaired'] {
  if (torn === '') return null;
  const offset = Buffer.byteLength(text.slice(0, text.length - torn.length));
  withFile('repair', file, () => truncateSync(file, offset));
  return {
    place: file,
    offset,
    removedBytes: Buffer.byteLength(torn),
    reason: 'The last line was incomplete.',
  };
}

/** Writes the events that do not exist yet, as one line. @returns the position of each event @throws STORE_EVENT_CONFLICT */
export function appendToLog(log: DispatchLog, events: readonly CapturedEvent[]): number[] {
  const added = new Map<string, CapturedEvent>();
  for (const event of events) {
    const position = log.positions.get(event.id);
    const existing = position === undefined ? added.get(event.id) : log.events[position];
    if (existing === undefined) added.set(event.id, structuredClone(event));
    else if (!hasSameContent(JSON.stringify(existing), JSON.stringify(event))) throw eventConflict(event.id);
  }
  if (added.size > 0) {
    write(log, { events: [...added.values()] });
    addEvents(log, [...added.values()]);
  }
  return events.map(({ id }) => log.positions.get(id) as number);
}

export function writeEnvelope(log: DispatchLog, envelope: DispatchEnvelope): void {
  write(log, { envelope });
  log.envelope = structuredClone(envelope);
}

/** Counts a new claim. Its epoch is in the file, so that it grows after the store was opened again. */
export function writeEpoch(log: DispatchLog): void {
  write(log, { epoch: log.epoch + 1 });
  log.epoch += 1;
}

function addEvents(log: DispatchLog, events: readonly CapturedEvent[]): void {
  for (const event of events) {
    log.positions.set(event.id, log.events.length);
    log.events.push(event);
  }
}

function write(log: DispatchLog, record: DispatchRecord): void {
  const line = toLine(record);
  withFile('append to', log.file, () => {
    if (log.isTorn) truncateSync(log.file, log.size);
    log.isTorn = true;
    appendFileSync(log.file, line);
  });
  log.isTorn = false;
  log.size += Buffer.byteLength(line);
}

function toLine(record: DispatchRecord): string {
  return `${JSON.stringify(record)}\n`;
}

function parseLine(file: string, line: string, number: number): DispatchRecord {
  try {
    const record = JSON.parse(line);
    const isKnown =
      'envelope' in record || Array.isArray(record.events) || Number.isSafeInteger(record.epoch);
    if (!isKnown) throw new TypeError('It is not a record.');
    return record;
  } catch (cause) {
    throw storeErrors.error(
      'STORE_CORRUPT',
      `Line ${number} of ${file} is damaged. Restore the file from a copy.`,
      {
        cause,
        details: { file, line: number },
      },
    );
  }
}
