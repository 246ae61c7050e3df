import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type CapturedEvent, type DispatchEnvelope, StoreError, type StoreRepair } from '@hansard/provider';
import { unavailable } from './unavailable.ts';

/** One line of a dispatch's file: its envelope from then on, or events that came together. */
type DispatchRecord = { readonly envelope: DispatchEnvelope } | { readonly events: readonly CapturedEvent[] };

/** The content of the file of one dispatch. A batch is one line, so a torn line loses all of it or nothing. */
export interface DispatchLog {
  readonly file: string;
  envelope: DispatchEnvelope;
  readonly events: CapturedEvent[];
  readonly positions: Map<string, number>;
  /** The repair that was made when the file was opened. */
  readonly repaired: Omit<StoreRepair, 'taskDir' | 'dispatchId'> | null;
}

export function createDispatchLog(file: string, envelope: DispatchEnvelope): DispatchLog {
  try {
    writeFileSync(file, toLine({ envelope }), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unavailable(file, error);
    throw new StoreError('STORE_DISPATCH_EXISTS', `Dispatch ${envelope.dispatchId} exists: ${file}`, {
      cause: error,
    });
  }
  return { file, envelope: structuredClone(envelope), events: [], positions: new Map(), repaired: null };
}

/** Reads a file, or returns null if there is none. An incomplete last line is removed. */
export function readDispatchLog(file: string): DispatchLog | null {
  const text = readText(file);
  if (text === null) return null;
  const lines = text.split('\n');
  const torn = lines.pop() ?? '';
  const records = lines.map((line, index) => parseLine(file, line, index + 1));
  const first = records[0];
  if (first === undefined || !('envelope' in first)) {
    throw new StoreError('STORE_CORRUPT', `${file} does not begin with an envelope.`, {
      details: { file, offset: 0 },
    });
  }
  const log: DispatchLog = {
    file,
    envelope: first.envelope,
    events: [],
    positions: new Map(),
    repaired: cutTorn(file, text, torn),
  };
  for (const record of records) {
    if ('envelope' in record) log.envelope = record.envelope;
    else addEvents(log, record.events);
  }
  return log;
}

function cutTorn(file: string, text: string, torn: string): DispatchLog['repaired'] {
  if (torn === '') return null;
  const offset = Buffer.byteLength(text.slice(0, text.length - torn.length));
  truncateSync(file, offset);
  return {
    place: file,
    offset,
    removedBytes: Buffer.byteLength(torn),
    reason: 'the last line was incomplete',
  };
}

/** Writes the events that do not exist yet, as one line. */
export function appendToLog(log: DispatchLog, events: readonly CapturedEvent[]): void {
  const fresh = new Map<string, CapturedEvent>();
  for (const event of events) {
    const position = log.positions.get(event.id);
    const existing = position === undefined ? fresh.get(event.id) : log.events[position];
    if (existing === undefined) fresh.set(event.id, structuredClone(event));
    else if (!isDeepStrictEqual(plain(existing), plain(event))) {
      throw new StoreError(
        'STORE_EVENT_CONFLICT',
        `Event ${event.id} exists with other content: ${log.file}`,
      );
    }
  }
  if (fresh.size === 0) return;
  write(log.file, { events: [...fresh.values()] });
  addEvents(log, [...fresh.values()]);
}

export function writeEnvelope(log: DispatchLog, envelope: DispatchEnvelope): void {
  write(log.file, { envelope });
  log.envelope = structuredClone(envelope);
}

function addEvents(log: DispatchLog, events: readonly CapturedEvent[]): void {
  for (const event of events) {
    log.positions.set(event.id, log.events.length);
    log.events.push(event);
  }
}

/** The same JSON whatever the prototype of its objects. */
function plain(event: CapturedEvent): unknown {
  return JSON.parse(JSON.stringify(event));
}

function write(file: string, record: DispatchRecord): void {
  try {
    appendFileSync(file, toLine(record));
  } catch (error) {
    throw unavailable(file, error);
  }
}

function toLine(record: DispatchRecord): string {
  return `${JSON.stringify(record)}\n`;
}

function parseLine(file: string, line: string, number: number): DispatchRecord {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new StoreError('STORE_CORRUPT', `Line ${number} of ${file} is damaged.`, {
      cause,
      details: { file, line: number },
    });
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unavailable(file, error);
  }
}
