import type { DispatchDamage, DispatchVerification } from '@hansard/provider';
import { chainStart } from '@hansard/store-kit';
import { decodeEvent, dispatchChecksum, eventChecksum } from '../database/decode.ts';
import type { EventRow, FoundRow, Statements } from '../database/statements.ts';
import { isDamage } from '../sqlite-errors.ts';

/** A dispatch and its events, as the database has them now. */
export interface FoundDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly number: number;
  readonly length: number;
  /** The number of events that were acknowledged; fewer events are damage. */
  readonly least: number;
  /** The acknowledged length, or -1 if none is recorded. */
  readonly inFile: number;
  readonly hasEventIds: boolean;
}

/** The row of a dispatch with its length. */
export type StoredLength = Pick<FoundRow, 'number' | 'length' | 'acknowledged' | 'hasEventIds'>;

/** `inFile`: the acknowledged length, or -1 if none is recorded. */
export function foundDispatch(
  taskDir: string,
  dispatchId: string,
  { number, length, acknowledged, hasEventIds }: StoredLength,
  inFile: number,
): FoundDispatch {
  const least = Math.max(acknowledged, inFile);
  return { taskDir, dispatchId, number, length, least, inFile, hasEventIds: hasEventIds === 1 };
}

/** The number of rows that a scan reads at once. */
const pageSize = 500;
/** The number of unreadable rows in a row after which a scan ends, where nothing is known to be stored. */
const longestGap = 1_000;

/** A whole event, or damage. */
type ScannedRow =
  | { readonly line: string }
  | { readonly damage: Omit<DispatchDamage, 'place' | 'eventsBefore'> };

/**
 * Reads all rows of a dispatch, whatever is damaged.
 * - A row is whole if its checksum follows from the stored checksum of the row before it, which itself may be damaged.
 * - After a missing row, the stored checksum of the row before is not known. Such a row is whole if it is an event.
 * - Rows that SQLite cannot reach are read one by one, by other paths through its tree.
 */
function* scanEvents(statements: Statements, dispatch: FoundDispatch): Generator<ScannedRow> {
  const { number, least } = dispatch;
  let previous: number | null = chainStart(dispatch.taskDir, dispatch.dispatchId);
  let following = 0;
  let position = 0;
  let size = pageSize;
  let unreadable: { readonly from: number; readonly reason: string } | null = null;
  for (;;) {
    const read = readPage(statements, number, position, size);
    const rows = typeof read === 'string' ? [] : read;
    if (typeof read === 'string') {
      if (size > 1) {
        size = 1;
        continue;
      }
      unreadable ??= { from: position, reason: read };
      position += 1;
      if (position - unreadable.from <= longestGap || position < least) continue;
    }
    const [first] = rows;
    if (unreadable !== null) {
      const { from, reason } = unreadable;
      const end = first?.position ?? least;
      yield lost(from, end > from ? end - from : null, 0, `events cannot be read (${reason})`);
      position = Math.max(from, end);
      previous = null;
      following = 0;
      unreadable = null;
    }
    if (first === undefined) break;
    size = Math.min(pageSize, size * 2);
    for (const row of rows) {
      const { missing, reason } = checkRow(row, position, previous);
      if (missing > 0) yield lost(position, missing, 0, missingText(position, missing));
      if (reason !== null) yield lost(row.position, 1, bytesOf(row.line), `the event ${reason}`);
      else {
        if (missing < 0) yield lost(position, 0, 0, `the event has the position ${row.position}`);
        yield { line: row.line };
      }
      previous = row.crc;
      following = row.batch;
      position = Math.max(position, row.position + 1);
    }
  }
  const wanted = Math.max(least, position + following);
  if (position < wanted) yield lost(position, wanted - position, 0, missingText(position, wanted - position));
}

/** The next rows, or the reason why they cannot be read. */
function readPage(
  statements: Statements,
  number: number,
  position: number,
  size: number,
): EventRow[] | string {
  try {
    const rows = statements.pageOfEvents.all(number, position - 1, size);
    if (!rows.every((row) => Number.isSafeInteger(row.position))) return 'a position is not a number';
    const isInOrder = rows.length === 0 || rows.some((row) => row.position >= position);
    return isInOrder ? rows : 'they are out of order';
  } catch (error) {
    if (isDamage(error)) return (error as Error).message;
    throw error;
  }
}

/** Checks all rows of a dispatch, and passes the lines of whole events to `keep`. */
export function verifyEvents(
  statements: Statements,
  dispatch: FoundDispatch,
  keep: (line: string) => void = () => {},
): DispatchVerification {
  const damages: DispatchDamage[] = [];
  let wholeEvents = 0;
  let bytes = 0;
  for (const row of scanEvents(statements, dispatch)) {
    if ('damage' in row) {
      damages.push({ place: 'events', eventsBefore: wholeEvents, ...row.damage });
      bytes += row.damage.bytes;
    } else {
      wholeEvents += 1;
      bytes += Buffer.byteLength(row.line);
      keep(row.line);
    }
  }
  return { integrity: 'checksum', wholeEvents, bytes, damages };
}

/** `missing`: the number of events that are missing before the row; -1 if only its position is damaged. */
function checkRow(
  { position, batch, crc, line }: EventRow,
  expected: number,
  previous: number | null,
): { readonly missing: number; readonly reason: string | null } {
  const gap = position - expected;
  const follows = previous !== null && isNext(previous, { batch, crc, line });
  // It follows the row before it, so nothing is missing between them.
  if (gap !== 0 && follows) return { missing: -1, reason: null };
  if (gap < 0) return { missing: 0, reason: `has the position ${position}, which is out of order` };
  if (gap === 0 && previous !== null) {
    return { missing: 0, reason: follows ? null : 'does not have the checksum of the one that was written' };
  }
  return { missing: gap, reason: decodeEvent(line) === null ? 'is not JSON of an event' : null };
}

/** Whether a row has the checksum that follows from the one before it, and a batch mark that is a number. */
export function isNext(previous: number, { batch, crc, line }: Omit<EventRow, 'position'>): boolean {
  return Number.isInteger(batch) && eventChecksum(previous, batch, line) === crc;
}

function lost(offset: number, lostEvents: number | null, bytes: number, reason: string): ScannedRow {
  return { damage: { offset, bytes, lostEvents, reason } };
}

function missingText(position: number, count: number): string {
  return count === 1
    ? `the event at position ${position} is missing`
    : `${count} events from position ${position} are missing`;
}

function bytesOf(line: unknown): number {
  return typeof line === 'string' ? Buffer.byteLength(line) : 0;
}

/** The facts about a dispatch that decide whether it has an event with an id. */
export interface KnownIds {
  readonly number: number;
  length: number;
  /** Empty in a dispatch without events. */
  greatestId: string;
  /** Whether its ids are in `event_ids`. In a dispatch where they are not, each id is greater than the one before. */
  hasEventIds: boolean;
}

export function readKnownIds(
  statements: Statements,
  { number, length, hasEventIds }: FoundDispatch,
): KnownIds {
  const greatest = hasEventIds
    ? statements.greatestEventId.get(number)
    : statements.getIdAt.get(number, length - 1);
  return { number, length, greatestId: greatest?.id ?? '', hasEventIds };
}

/** The position of the event with this id, or null. */
export function findPosition(statements: Statements, known: KnownIds, id: string): number | null {
  if (id > known.greatestId) return null;
  if (known.hasEventIds) return statements.findEventId.get(known.number, id)?.position ?? null;
  return findAmongGrowing(statements, known, id);
}

/** Records the new id of the next event. The first id that does not grow starts the index of ids. */
export function noteId(statements: Statements, known: KnownIds, id: string): void {
  const grows = id > known.greatestId;
  if (!grows && !known.hasEventIds) {
    startIndexOfIds(statements, known.number);
    known.hasEventIds = true;
  }
  if (known.hasEventIds) statements.insertEventId.run(known.number, id, known.length);
  if (grows) known.greatestId = id;
}

export function startIndexOfIds(statements: Statements, number: number): void {
  const row = statements.getDispatchNumbered.get(number);
  if (row === undefined) return;
  statements.insertAllEventIds.run(number);
  statements.setHasEventIds.run(dispatchChecksum({ ...row, hasEventIds: 1 }), number);
}

function findAmongGrowing(statements: Statements, known: KnownIds, id: string): number | null {
  let low = 0;
  let high = known.length - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const found = statements.getIdAt.get(known.number, middle)?.id ?? '';
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
