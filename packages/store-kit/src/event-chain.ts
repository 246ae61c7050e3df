import { type CapturedEvent, encodeEvent, findNotJson } from '@hansard/events';
import type { DispatchDamage, DispatchVerification } from '@hansard/provider';
import { chainStart, checksumOf, hasSameContent } from './checksum.ts';

/** An event as a server keeps it: one row of a table, or one entry of a stream. */
export interface StoredEvent {
  readonly position: number;
  /** That of `eventChecksum`. */
  readonly checksum: number;
  readonly id: string;
  /** The event as one line of JSON. */
  readonly line: string;
}

const previousBytes = new Uint8Array(4);
const previousView = new DataView(previousBytes.buffer);

/**
 * The checksum of an event, as a signed number of 32 bits: the CRC-32 of the four bytes of the checksum before it and of the line. So a
 * missing or moved event shows. The first event follows `chainStart`.
 */
export function eventChecksum(previous: number, line: string): number {
  previousView.setInt32(0, previous | 0);
  return checksumOf(line, checksumOf(previousBytes)) | 0;
}

/** No shorter text nests deeper than an event may. */
const shortestTooDeep = 2_000;

/** The event of a stored line; null if the line is not one, or nests deeper than any reader can follow. */
export function decodeEvent(line: string): CapturedEvent | null {
  try {
    const value = JSON.parse(line) as Partial<CapturedEvent> | null;
    if (typeof value?.id !== 'string' || typeof value.type !== 'string') return null;
    const isReadable = line.length < shortestTooDeep || findNotJson(value) === null;
    return isReadable ? (value as CapturedEvent) : null;
  } catch {
    return null;
  }
}

/** The lines of a batch, each id once; the id, if two events have it with different contents. */
export function linesById(events: readonly CapturedEvent[]): ReadonlyMap<string, string> | string {
  const lines = new Map<string, string>();
  for (const event of events) {
    const line = encodeEvent(event);
    const known = lines.get(event.id);
    if (known === undefined) lines.set(event.id, line);
    else if (!hasSameContent(known, line)) return event.id;
  }
  return lines;
}

/** Events from a position on. */
export interface ScannedEvents {
  readonly events: readonly StoredEvent[];
  /** Whether no event follows them. */
  readonly isEnd: boolean;
}

/** Reads at most `limit` events from a position on; the reason, in words, if the server cannot read them. */
type ScanEvents = (position: number, limit: number) => Promise<ScannedEvents | string>;

/** The number of events that a scan reads at once. */
const eventsAtOnce = 1_000;

/**
 * Checks all stored events of a dispatch, whatever is damaged, and passes the ids and lines of whole ones to `keep`.
 * - An event is whole if its checksum follows from the stored checksum of the event before it, which itself may be damaged.
 * - After missing events, the checksum before is not known. Such an event is whole if it can be decoded.
 * - Where the server cannot read several at once, they are read one by one.
 */
export async function verifyEvents(
  {
    taskDir,
    dispatchId,
    length,
    least,
  }: {
    readonly taskDir: string;
    readonly dispatchId: string;
    /** The position after the last stored event. */
    readonly length: number;
    /** The number of events that were acknowledged; fewer events are damage. */
    readonly least: number;
  },
  read: ScanEvents,
  keep: (id: string, line: string) => void = () => {},
): Promise<DispatchVerification> {
  const damages: DispatchDamage[] = [];
  let wholeEvents = 0;
  let bytes = 0;
  let previous: number | null = chainStart(taskDir, dispatchId);
  let position = 0;
  let size = eventsAtOnce;
  const lose = (offset: number, lostEvents: number, reason: string, damaged = 0) => {
    const place = { place: 'events', offset, bytes: damaged };
    damages.push({ ...place, eventsBefore: wholeEvents, lostEvents, reason });
  };
  for (;;) {
    const found = await read(position, size);
    if (typeof found === 'string') {
      if (size > 1) size = 1;
      else {
        lose(position, 1, `the event cannot be read (${found})`);
        previous = null;
        position += 1;
        if (position >= Math.max(length, least)) break;
      }
      continue;
    }
    for (const event of found.events) {
      if (event.position > position) {
        lose(position, event.position - position, missing(position, event.position - position));
        previous = null;
      }
      const damage = damageOf(event, previous);
      if (damage === null) {
        wholeEvents += 1;
        keep(event.id, event.line);
      } else lose(event.position, 1, damage, Buffer.byteLength(event.line));
      bytes += Buffer.byteLength(event.line);
      previous = event.checksum;
      position = event.position + 1;
    }
    if (found.isEnd) break;
    size = eventsAtOnce;
  }
  if (position < least) lose(position, least - position, missing(position, least - position));
  return { integrity: 'checksum', wholeEvents, bytes, damages };
}

function damageOf({ id, line, checksum }: StoredEvent, previous: number | null): string | null {
  const event = decodeEvent(line);
  if (previous !== null && eventChecksum(previous, line) !== checksum)
    return 'the event does not have the checksum of the one that was written';
  if (event === null) return 'the event is not JSON of an event';
  return event.id === id ? null : `the event has the id ${id} in its row`;
}

function missing(position: number, count: number): string {
  return count === 1
    ? `the event at position ${position} is missing`
    : `${count} events from position ${position} are missing`;
}

/** Runs the works of one key one after the other, and those of different keys side by side. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const result = before === undefined ? work() : before.then(work);
    const ended = result.then(
      () => {},
      () => {},
    );
    this.#last.set(key, ended);
    void ended.then(() => {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    });
    return result;
  }
}
