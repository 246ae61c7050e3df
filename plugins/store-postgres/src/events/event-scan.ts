import type { DispatchDamage, DispatchVerification } from '@hansard/provider';
import { chainStart, eventChecksum } from '../database/checksums.ts';
import { isDamage } from '../database/postgres-errors.ts';
import type { BigInt64, EventRow } from '../database/statements.ts';
import { decodeEvent } from '../tables/decode.ts';

/** A dispatch and its events, as the database has them now. */
export interface FoundDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly number: BigInt64;
  readonly length: number;
  /** The number of events that were acknowledged; fewer events are damage. */
  readonly least: number;
}

export type ReadRows = (position: number, limit: number) => Promise<readonly EventRow[]>;

/** The number of rows that a scan reads at once. */
const pageSize = 1_000;

/**
 * Checks all rows of a dispatch, whatever is damaged, and passes the ids and lines of whole events to `keep`.
 * - A row is whole if its checksum follows from the stored checksum of the row before it, which itself may be damaged.
 * - After missing rows, the checksum before is not known. Such a row is whole if it is an event.
 * - Where the server finds a damaged page, rows are read one by one.
 */
export async function verifyEvents(
  { taskDir, dispatchId, length, least }: FoundDispatch,
  read: ReadRows,
  keep: (id: string, line: string) => void = () => {},
): Promise<DispatchVerification> {
  const damages: DispatchDamage[] = [];
  let wholeEvents = 0;
  let bytes = 0;
  let previous: number | null = chainStart(taskDir, dispatchId);
  let position = 0;
  let size = pageSize;
  const lose = (offset: number, lostEvents: number, reason: string, damagedBytes = 0) => {
    damages.push({
      place: 'events',
      offset,
      bytes: damagedBytes,
      eventsBefore: wholeEvents,
      lostEvents,
      reason,
    });
  };
  for (;;) {
    const rows = await readOrDamage(read, position, size);
    if (typeof rows === 'string') {
      if (size > 1) size = 1;
      else {
        lose(position, 1, `the event cannot be read (${rows})`);
        previous = null;
        position += 1;
        if (position >= Math.max(length, least)) break;
      }
      continue;
    }
    for (const row of rows) {
      if (row.position > position) {
        lose(position, row.position - position, missing(position, row.position - position));
        previous = null;
      }
      const damage = damageOf(row, previous);
      if (damage === null) {
        wholeEvents += 1;
        keep(row.id, row.line);
      } else lose(row.position, 1, damage, Buffer.byteLength(row.line));
      bytes += Buffer.byteLength(row.line);
      previous = row.checksum;
      position = row.position + 1;
    }
    if (rows.length < size) break;
    size = pageSize;
  }
  if (position < least) lose(position, least - position, missing(position, least - position));
  return { integrity: 'checksum', wholeEvents, bytes, damages };
}

/** The rows, or the reason why they cannot be read. */
async function readOrDamage(
  read: ReadRows,
  position: number,
  size: number,
): Promise<readonly EventRow[] | string> {
  try {
    return await read(position, size);
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}

function damageOf({ id, line, checksum }: EventRow, previous: number | null): string | null {
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
