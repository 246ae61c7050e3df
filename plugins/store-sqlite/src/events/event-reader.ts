import type { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent } from '@hansard/events';
import {
  type DispatchDamage,
  type DispatchVerification,
  type EventPage,
  type ReadEventsOptions,
  storeErrors,
} from '@hansard/provider';
import {
  chainStart,
  countOfPage,
  dispatchNotFound,
  mostPageBytes,
  pageRange,
  writtenName,
} from '@hansard/store-kit';
import type { AcknowledgedLengths } from '../database/acknowledged-lengths.ts';
import { decodeEvent } from '../database/decode.ts';
import type { DispatchRow, EventRow, Statements } from '../database/statements.ts';
import { inSnapshot } from '../database/transaction.ts';
import { corrupt, isDamage } from '../sqlite-errors.ts';
import type { DispatchTable } from '../tables/dispatch-table.ts';
import { type FoundDispatch, foundDispatch, isNext, type StoredLength, verifyEvents } from './event-scan.ts';

export interface EventReaderSetup {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly dispatches: DispatchTable;
  readonly lengths: AcknowledgedLengths;
  readonly file: string;
}

/**
 * Reads events by position. Each answer is compared with the position of the last event, which SQLite finds by another path
 * through its tree, with the acknowledged length, and with the chain of checksums, from the row before the first event of a page.
 * A read that finds damage, or no dispatch, is repeated in a transaction: its statements may have read before and after a write of another process.
 */
export class EventReader {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #dispatches: DispatchTable;
  readonly #lengths: AcknowledgedLengths;
  readonly #file: string;

  constructor({ database, statements, dispatches, lengths, file }: EventReaderSetup) {
    this.#database = database;
    this.#statements = statements;
    this.#dispatches = dispatches;
    this.#lengths = lengths;
    this.#file = file;
  }

  all(taskDir: string, dispatchId: string): CapturedEvent[] {
    return this.#read(taskDir, dispatchId, (found) => this.events(found, 0, found.length));
  }

  recent(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    return this.#read(taskDir, dispatchId, (found) =>
      this.events(found, Math.max(0, found.length - count), found.length),
    );
  }

  page(taskDir: string, dispatchId: string, options: ReadEventsOptions): EventPage {
    if (options.skipDamaged)
      return this.#inOneState(taskDir, dispatchId, (found) => this.#wholePage(found, options));
    return this.#read(taskDir, dispatchId, (found) => {
      const { first, end } = pageRange(found.length, options);
      if (options.last === 0) this.lastChecksum(found);
      const to = options.last === undefined ? this.#endOfPage(found, first, end) : end;
      return { events: this.events(found, first, to), first, next: to - 1 };
    });
  }

  /** The event at a position. */
  at(taskDir: string, dispatchId: string, position: number): CapturedEvent {
    const [event] = this.#read(taskDir, dispatchId, (found) => this.events(found, position, position + 1));
    return event as CapturedEvent;
  }

  /** Checks the row of a dispatch and all rows of its events. */
  verify(taskDir: string, dispatchId: string): DispatchVerification {
    return this.#inOneState(taskDir, dispatchId, (found) => {
      const verification = verifyEvents(this.#statements, found);
      const damage = this.#dispatches.damageOf(taskDir, dispatchId);
      return damage === null ? verification : { ...verification, damages: [damage, ...verification.damages] };
    });
  }

  #read<T>(taskDir: string, dispatchId: string, work: (found: FoundDispatch) => T): T {
    try {
      return work(this.find(taskDir, dispatchId));
    } catch (error) {
      // A rewrite beside the read gives the dispatch another row.
      const isChanged =
        storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND');
      if (this.#database.isTransaction || !isChanged) throw error;
    }
    return this.#inOneState(taskDir, dispatchId, (found) => work(this.#assertLength(found)));
  }

  /** Calls `work` with a dispatch that does not change meanwhile. */
  #inOneState<T>(taskDir: string, dispatchId: string, work: (found: FoundDispatch) => T): T {
    // Before the state that is read, which then has every event that the file of lengths counts.
    const { number, inFile } = this.locate(taskDir, dispatchId);
    return inSnapshot(this.#database, () => {
      const row = this.#findRow(taskDir, dispatchId);
      return work(foundDispatch(taskDir, dispatchId, row, row.number === number ? inFile : -1));
    });
  }

  /**
   * A dispatch whose last event can be read.
   * @throws STORE_DISPATCH_NOT_FOUND; STORE_CORRUPT if the dispatch has fewer events than were acknowledged
   */
  find(taskDir: string, dispatchId: string): FoundDispatch {
    return this.#assertLength(this.locate(taskDir, dispatchId));
  }

  #assertLength(found: FoundDispatch): FoundDispatch {
    if (found.length >= found.least) return found;
    throw this.#damaged(found, 0);
  }

  /** The checksum from which that of the next event starts. @throws STORE_CORRUPT */
  lastChecksum(found: FoundDispatch): number {
    return this.#rows(found, Math.max(0, found.length - 1), found.length).at(-1)?.crc ?? startOf(found);
  }

  /** A dispatch, including one with fewer events than were acknowledged. @throws STORE_DISPATCH_NOT_FOUND */
  locate(taskDir: string, dispatchId: string): FoundDispatch {
    let row = this.#findRow(taskDir, dispatchId);
    const inFile = this.#lengths.read(row.number, taskDir, dispatchId)?.length ?? -1;
    // The file may count events that were appended after the row was read.
    if (inFile > row.length) row = this.#findRow(taskDir, dispatchId);
    return foundDispatch(taskDir, dispatchId, row, inFile);
  }

  /** A dispatch that was written under another name, with that name; null if it has the name of its place. */
  locateMisplaced({ taskDir, dispatchId, writtenAs }: DispatchRow): FoundDispatch | null {
    const row = this.#statements.findDispatch.get(taskDir, dispatchId);
    if (row === undefined || writtenAs === writtenName(taskDir, dispatchId)) return null;
    const at = writtenAs.lastIndexOf('/');
    const [writtenTask, writtenId] = [writtenAs.slice(0, at), writtenAs.slice(at + 1)];
    const inFile = this.#lengths.read(row.number, writtenTask, writtenId)?.length ?? -1;
    return foundDispatch(writtenTask, writtenId, row, inFile);
  }

  #findRow(taskDir: string, dispatchId: string): StoredLength {
    try {
      const row = this.#statements.findDispatch.get(taskDir, dispatchId);
      if (row !== undefined) {
        const isNamed = row.name === `${taskDir} ${dispatchId}`;
        if (isNamed && row.writtenAs === writtenName(taskDir, dispatchId)) return row;
        if (isNamed) this.#dispatches.get(taskDir, dispatchId);
        throw corrupt(this.#file, `the index of its dispatches leads to another one than ${dispatchId}`, {
          details: { dispatchId },
        });
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    // There is no row, it was written under another name, or the last event cannot be read.
    const { number, acknowledged, hasEventIds } = this.#dispatches.get(taskDir, dispatchId);
    return { number, acknowledged, hasEventIds, length: 0 };
  }

  #wholePage(found: FoundDispatch, options: ReadEventsOptions): EventPage {
    const events: CapturedEvent[] = [];
    verifyEvents(this.#statements, found, (line) => {
      const event = decodeEvent(line);
      if (event !== null) events.push(event);
    });
    const { first, end } = pageRange(events.length, options);
    const sizes = events.slice(first, end).map((event) => JSON.stringify(event).length);
    const to = options.last === undefined ? first + countOfPage(sizes) : end;
    return { events: events.slice(first, to), first, next: to - 1 };
  }

  /** The end of a page, which has at most the events before `end`. Damage is found when the events are read. */
  #endOfPage({ number }: FoundDispatch, first: number, end: number): number {
    if (end - first < 2) return end;
    try {
      const { bytesOfEvents, sizesOfEvents } = this.#statements;
      if ((bytesOfEvents.get(number, first, end)?.bytes ?? 0) <= mostPageBytes) return end;
      return first + countOfPage(sizesOfEvents.all(number, first, end).map(({ bytes }) => bytes));
    } catch (error) {
      if (isDamage(error)) return end;
      throw error;
    }
  }

  /** The events from `first` to before `end`. @throws STORE_CORRUPT */
  events(found: FoundDispatch, first: number, end: number): CapturedEvent[] {
    return this.#rows(found, first, end).map(({ line }, index) => {
      const event = decodeEvent(line);
      if (event === null) throw this.#damaged(found, first + index);
      return event;
    });
  }

  /** The rows from `first` to before `end`. */
  #rows(found: FoundDispatch, first: number, end: number): EventRow[] {
    if (end <= first) return [];
    const before = first > 0 ? 1 : 0;
    const isLast = end === found.length;
    const rows = this.#select(found, first - before, isLast ? end + 1 : end);
    let previous = before === 0 ? startOf(found) : rows[0]?.crc;
    for (let index = before; index < end - first + before; index += 1) {
      const row = rows[index];
      const position = first - before + index;
      if (row === undefined || row.position !== position) throw this.#missing(found, position);
      if (previous === undefined || !isNext(previous, row)) throw this.#damaged(found, position);
      previous = row.crc;
    }
    const wanted = rows.slice(before, end - first + before);
    if (isLast && wanted.at(-1)?.batch !== 0) throw this.#damaged(found, end);
    if (rows.length > wanted.length + before) this.#assertGrown(found);
    return wanted;
  }

  #select(found: FoundDispatch, first: number, end: number): EventRow[] {
    try {
      return this.#statements.pageOfEvents.all(found.number, first - 1, end - first);
    } catch (error) {
      if (isDamage(error)) throw this.#damaged(found, first, error);
      throw error;
    }
  }

  /** For a row after the last one. @throws STORE_CORRUPT if it was not appended meanwhile */
  #assertGrown(found: FoundDispatch): void {
    const { length } = this.#findRow(found.taskDir, found.dispatchId);
    if (length <= found.length) throw this.#damaged(found, found.length);
  }

  #missing(found: FoundDispatch, position: number): unknown {
    const { taskDir, dispatchId, number } = found;
    const isRemoved = this.#statements.getDispatch.get(taskDir, dispatchId)?.number !== number;
    return isRemoved ? dispatchNotFound(taskDir, dispatchId) : this.#damaged(found, position);
  }

  /** A STORE_CORRUPT with the first damage at or after a position, and the number of whole events before it. */
  #damaged(found: FoundDispatch, position: number, cause?: unknown): unknown {
    const { taskDir, dispatchId, number } = found;
    const { damages, wholeEvents } = verifyEvents(this.#statements, found);
    // An event that has the position of another one is damage, and is not lost.
    const endOf = ({ offset, lostEvents }: DispatchDamage) => offset + (lostEvents || 1);
    const damage = damages.find((one) => endOf(one) > position) ?? damages.at(-1);
    if (damage === undefined && this.#statements.getDispatch.get(taskDir, dispatchId)?.number !== number)
      return dispatchNotFound(taskDir, dispatchId);
    return corrupt(this.#file, describe(dispatchId, damage, position, found), {
      advice: `It has ${wholeEvents} whole events; --damaged reads them, and \`hansard store verify ${taskDir}/${dispatchId} --accept-loss\` makes the dispatch usable again.`,
      cause,
      details: {
        dispatchId,
        offset: damage?.offset ?? position,
        wholeEvents: damage?.eventsBefore ?? wholeEvents,
      },
    });
  }
}

function startOf({ taskDir, dispatchId }: FoundDispatch): number {
  return chainStart(taskDir, dispatchId);
}

function describe(
  dispatchId: string,
  damage: DispatchDamage | undefined,
  position: number,
  { length, least }: FoundDispatch,
): string {
  const short = length < least ? `dispatch ${dispatchId} had ${least} events and has only ${length}; ` : '';
  const what = damage?.reason ?? 'an event cannot be read';
  return `${short}in dispatch ${dispatchId}, at position ${damage?.offset ?? position}: ${what}`;
}
