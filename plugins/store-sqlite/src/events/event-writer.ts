import type { DatabaseSync } from 'node:sqlite';
import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { assertDispatchPath, eventConflict, hasSameContent } from '@hansard/store-kit';
import { decodeEvent, eventChecksum } from '../database/decode.ts';
import type { Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import { corrupt } from '../sqlite-errors.ts';
import type { WriterLeases } from '../writer-leases.ts';
import type { Acknowledgements, CountedDispatch } from './acknowledgements.ts';
import type { EventReader } from './event-reader.ts';
import { findPosition, type KnownIds, noteId, readKnownIds } from './event-scan.ts';

/** What is known of a claimed dispatch between appends. */
interface OpenDispatch extends KnownIds, CountedDispatch {
  /** The checksum of the last event. */
  crc: number;
  readonly epoch: number;
}

export interface EventWriterSetup {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly leases: WriterLeases;
  readonly reader: EventReader;
  readonly acknowledgements: Acknowledgements;
  readonly file: string;
}

/**
 * Appends events. For each claimed dispatch it keeps the next position, the greatest id and the last checksum, so that an append
 * is one insert. The insert itself requires the claim (see writer-leases.ts).
 */
export class EventWriter {
  readonly #setup: EventWriterSetup;
  readonly #statements: Statements;
  readonly #openDispatches = new Map<string, Map<string, OpenDispatch>>();

  constructor(setup: EventWriterSetup) {
    this.#setup = setup;
    this.#statements = setup.statements;
  }

  /** @returns the position of the event */
  append(taskDir: string, dispatchId: string, event: CapturedEvent): number {
    const dispatch = this.#open(taskDir, dispatchId);
    if (dispatch.hasEventIds || event.id <= dispatch.greatestId) {
      const [position] = this.appendAll(taskDir, dispatchId, [event]);
      return position as number;
    }
    try {
      this.#insert(dispatch, encodeEvent(event), 0);
    } catch (error) {
      this.forget(taskDir, dispatchId);
      throw error;
    }
    dispatch.greatestId = event.id;
    this.#setup.acknowledgements.note(dispatch);
    return dispatch.length - 1;
  }

  /** @returns the position of each event */
  appendAll(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): number[] {
    const dispatch = this.#open(taskDir, dispatchId);
    const { length } = dispatch;
    let positions: number[];
    try {
      positions = inTransaction(this.#setup.database, () => this.#insertNew(dispatch, events));
    } catch (error) {
      // The length may wait to be written to the file of lengths, which must not count events that were rolled back.
      dispatch.length = length;
      this.forget(taskDir, dispatchId);
      throw error;
    }
    this.#setup.acknowledgements.note(dispatch);
    return positions;
  }

  /** Discards the facts about a dispatch. The next append reads them again, and checks the claim again. */
  forget(taskDir: string, dispatchId: string): void {
    const ofTask = this.#openDispatches.get(taskDir);
    ofTask?.delete(dispatchId);
    if (ofTask?.size === 0) this.#openDispatches.delete(taskDir);
  }

  #open(taskDir: string, dispatchId: string): OpenDispatch {
    const known = this.#openDispatches.get(taskDir)?.get(dispatchId);
    if (known !== undefined) return known;
    assertDispatchPath(taskDir, dispatchId);
    const { database, leases, reader, acknowledgements } = this.#setup;
    const opened = inTransaction(database, () => {
      const found = reader.find(taskDir, dispatchId);
      const epoch = leases.assertClaimed(found.number, taskDir, dispatchId);
      const crc = reader.lastChecksum(found);
      const known = readKnownIds(this.#statements, found);
      return { ...acknowledgements.begin(found), ...known, crc, epoch };
    });
    const ofTask = this.#openDispatches.get(taskDir) ?? new Map<string, OpenDispatch>();
    this.#openDispatches.set(taskDir, ofTask.set(dispatchId, opened));
    return opened;
  }

  #insertNew(dispatch: OpenDispatch, events: readonly CapturedEvent[]): number[] {
    const lines = new Map<string, string>();
    const places = new Map<string, number>();
    for (const event of events) {
      const line = encodeEvent(event);
      const earlier = lines.get(event.id);
      const stored = earlier === undefined ? findPosition(this.#statements, dispatch, event.id) : null;
      const known = stored === null ? earlier : this.#storedLine(dispatch, stored);
      if (known !== undefined && !hasSameContent(known, line)) throw eventConflict(event.id);
      if (stored !== null) places.set(event.id, stored);
      else if (earlier === undefined) {
        places.set(event.id, dispatch.length + lines.size);
        lines.set(event.id, line);
      }
    }
    // Also for a batch without new events, which needs the claim like any other.
    if (lines.size === 0) this.#assertClaimed(dispatch);
    let following = lines.size;
    for (const [id, line] of lines) {
      following -= 1;
      noteId(this.#statements, dispatch, id);
      this.#insert(dispatch, line, following);
    }
    return events.map(({ id }) => places.get(id) as number);
  }

  #insert(dispatch: OpenDispatch, line: string, following: number): void {
    const { number, length, epoch } = dispatch;
    const crc = eventChecksum(dispatch.crc, following, line);
    const { changes } = this.#statements.insertEvent().run(number, length, following, crc, line, epoch);
    // A number, because the statement does not read big integers.
    if (changes !== 1) this.#assertClaimed(dispatch);
    dispatch.length += 1;
    dispatch.crc = crc;
  }

  #storedLine(dispatch: OpenDispatch, position: number): string {
    const stored = this.#statements.getEvent.get(dispatch.number, position);
    if (stored !== undefined && decodeEvent(stored.line) !== null) return stored.line;
    const { file } = this.#setup;
    throw corrupt(
      file,
      `the event at position ${position} of dispatch ${dispatch.dispatchId} cannot be read`,
      {
        details: { dispatchId: dispatch.dispatchId, offset: position },
      },
    );
  }

  /** @throws STORE_LOCKED if the claim, with the epoch of this writer, has ended */
  #assertClaimed({ number, taskDir, dispatchId, epoch }: OpenDispatch): void {
    const { leases } = this.#setup;
    if (leases.assertClaimed(number, taskDir, dispatchId) !== epoch)
      throw leases.notClaimed(number, taskDir, dispatchId);
  }
}
