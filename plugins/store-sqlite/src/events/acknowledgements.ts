import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@hansard/provider';
import type { AcknowledgedLengths } from '../database/acknowledged-lengths.ts';
import type { Statements } from '../database/statements.ts';
import { inTransaction } from '../database/transaction.ts';
import type { EventReader } from './event-reader.ts';
import type { FoundDispatch } from './event-scan.ts';

/** The greatest number of events, and the longest time in milliseconds, that the file of lengths is behind. */
const mostEvents = 256;
const longestDelay = 1_000;

type Begun = Pick<FoundDispatch, 'number' | 'taskDir' | 'dispatchId' | 'length' | 'inFile'>;

/** A dispatch that is being written. */
export interface CountedDispatch {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  length: number;
  /** The length in the file, and the time when it was written there. */
  acknowledged: number;
  acknowledgedAt: number;
}

export interface AcknowledgementsSetup {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly lengths: AcknowledgedLengths;
  readonly reader: EventReader;
  readonly clock: Clock;
}

/**
 * Writes the lengths of dispatches after appends: after 256 events or a second. If that fails, as on a full disk, the next append
 * tries again; `settle` reports it.
 *
 * Invariant: a length is written with SQLite's write lock, while the dispatch exists. So no other process deletes the dispatch, and its
 * length, before the length is written again, and the dispatch never seems to be lost.
 */
export class Acknowledgements {
  readonly #setup: AcknowledgementsSetup;
  readonly #clock: Clock;
  /** The dispatches whose lengths are to be written, by number. */
  readonly #behind = new Map<number, CountedDispatch>();
  #cancel: (() => void) | null = null;

  constructor(setup: AcknowledgementsSetup) {
    this.#setup = setup;
    this.#clock = setup.clock;
  }

  begin({ number, taskDir, dispatchId, length, inFile }: Begun): CountedDispatch {
    const acknowledgedAt = inFile === length ? this.#clock.monotonic() : Number.NEGATIVE_INFINITY;
    return { number, taskDir, dispatchId, length, acknowledged: inFile, acknowledgedAt };
  }

  /** Notes that a dispatch has grown. */
  note(dispatch: CountedDispatch): void {
    const now = this.#clock.monotonic();
    const isDue =
      dispatch.length - dispatch.acknowledged >= mostEvents || now - dispatch.acknowledgedAt >= longestDelay;
    this.#behind.set(dispatch.number, dispatch);
    if (isDue && this.#tryWrite([dispatch], now)) return;
    this.#cancel ??= this.#clock.after(longestDelay, () => this.#writeAll(), { keepsProcess: false });
  }

  /**
   * Writes the exact length of a dispatch, in a transaction of the caller. One that is damaged keeps the greater length.
   * @throws an error of the file system
   */
  settle(taskDir: string, dispatchId: string): void {
    const { lengths, reader } = this.#setup;
    const { number, length, least } = reader.locate(taskDir, dispatchId);
    if (length >= least) lengths.write(number, taskDir, dispatchId, length);
    this.forget(number);
  }

  /** Writes the length of this dispatch no more. */
  forget(number: number): void {
    this.#behind.delete(number);
    if (this.#behind.size === 0) this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#behind.clear();
  }

  #writeAll(): void {
    this.#cancel = null;
    if (this.#behind.size > 0) this.#tryWrite([...this.#behind.values()], this.#clock.monotonic());
  }

  /** The dispatches are among those that are behind. */
  #tryWrite(dispatches: readonly CountedDispatch[], now: number): boolean {
    const { database } = this.#setup;
    try {
      inTransaction(database, () => {
        for (const dispatch of dispatches) this.#write(dispatch);
      });
    } catch {
      return false;
    }
    for (const dispatch of dispatches) {
      dispatch.acknowledged = dispatch.length;
      dispatch.acknowledgedAt = now;
      this.#behind.delete(dispatch.number);
    }
    return true;
  }

  #write({ number, taskDir, dispatchId, length }: CountedDispatch): void {
    const { statements, lengths } = this.#setup;
    // Another process may have deleted it.
    if (statements.hasDispatch.get(number) === undefined) return;
    // Another opening that took the dispatch over may have written more.
    const written = lengths.read(number, taskDir, dispatchId)?.length ?? -1;
    if (written < length) lengths.write(number, taskDir, dispatchId, length);
  }
}
