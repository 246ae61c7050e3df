import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { assertDispatchPath, eventConflict } from '@hansard/store-kit';
import { decodeLine, eventMissing } from '../database/decode.ts';
import type { Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import { isConstraintError } from '../sqlite-errors.ts';
import type { WriterLeases } from '../writer-leases.ts';
import { findPosition, type KnownIds, noteId, readKnownIds } from './event-ids.ts';
import { findDispatch } from './find-dispatch.ts';

/**
 * Appends events. For each claimed dispatch it keeps the next position and the greatest id, so that an append is one insert.
 * If the lease was lost in spite of its rules, the key of the events table refuses the insert (see writer-leases.ts).
 */
export class EventWriter {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #leases: WriterLeases;
  readonly #file: string;
  readonly #openDispatches = new Map<string, Map<string, KnownIds>>();

  constructor(database: DatabaseSync, statements: Statements, leases: WriterLeases, file: string) {
    this.#database = database;
    this.#statements = statements;
    this.#leases = leases;
    this.#file = file;
  }

  append(taskDir: string, dispatchId: string, event: CapturedEvent): void {
    const dispatch = this.#open(taskDir, dispatchId);
    if (dispatch.hasEventIds || event.id <= dispatch.greatestId) {
      this.appendAll(taskDir, dispatchId, [event]);
      return;
    }
    try {
      this.#statements.insertEvent.run(dispatch.number, dispatch.length, encodeEvent(event));
    } catch (error) {
      throw this.#failed(error, taskDir, dispatchId, dispatch);
    }
    dispatch.length += 1;
    dispatch.greatestId = event.id;
  }

  appendAll(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): void {
    const dispatch = this.#open(taskDir, dispatchId);
    try {
      inTransaction(this.#database, () => {
        for (const event of events) this.#add(dispatch, event);
      });
    } catch (error) {
      throw this.#failed(error, taskDir, dispatchId, dispatch);
    }
  }

  /** Discards the facts about a dispatch. The next append reads them again, and checks the lease again. */
  forget(taskDir: string, dispatchId: string): void {
    const ofTask = this.#openDispatches.get(taskDir);
    ofTask?.delete(dispatchId);
    if (ofTask?.size === 0) this.#openDispatches.delete(taskDir);
  }

  #open(taskDir: string, dispatchId: string): KnownIds {
    const known = this.#openDispatches.get(taskDir)?.get(dispatchId);
    if (known !== undefined) return known;
    assertDispatchPath(taskDir, dispatchId);
    const opened = inTransaction(this.#database, () => {
      const found = findDispatch(this.#statements, taskDir, dispatchId, this.#file);
      this.#leases.assertClaimed(found.number, taskDir, dispatchId);
      return readKnownIds(this.#statements, found);
    });
    const ofTask = this.#openDispatches.get(taskDir) ?? new Map<string, KnownIds>();
    this.#openDispatches.set(taskDir, ofTask.set(dispatchId, opened));
    return opened;
  }

  #add(dispatch: KnownIds, event: CapturedEvent): void {
    const line = encodeEvent(event);
    const position = findPosition(this.#statements, dispatch, event.id);
    if (position === null) {
      noteId(this.#statements, dispatch, event.id);
      this.#statements.insertEvent.run(dispatch.number, dispatch.length, line);
      dispatch.length += 1;
      return;
    }
    if (!this.#isSame(dispatch.number, position, line)) throw eventConflict(event.id);
  }

  #isSame(number: number, position: number, line: string): boolean {
    const stored = this.#statements.getLine.get(number, position);
    if (stored === undefined) throw eventMissing(position, this.#file);
    if (stored.line === line) return true;
    return isDeepStrictEqual(decodeLine(stored, this.#file), JSON.parse(line));
  }

  #failed(error: unknown, taskDir: string, dispatchId: string, dispatch: KnownIds): unknown {
    this.forget(taskDir, dispatchId);
    const isLost = isConstraintError(error) && !this.#leases.isClaimed(dispatch.number);
    return isLost ? this.#leases.notClaimed(dispatch.number, taskDir, dispatchId) : error;
  }
}
