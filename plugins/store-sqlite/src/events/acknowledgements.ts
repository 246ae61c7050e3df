import type { Clock } from '@hansard/provider';
import type { AcknowledgedLengths } from '../database/acknowledged-lengths.ts';
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

/**
 * Writes the lengths of dispatches after appends: after 256 events or a second. If that fails, as on a full disk, the next append
 * tries again; `settle` reports it.
 */
export class Acknowledgements {
  readonly #lengths: AcknowledgedLengths;
  readonly #clock: Clock;
  readonly #reader: EventReader;
  readonly #behind = new Set<CountedDispatch>();
  #cancel: (() => void) | null = null;

  constructor(lengths: AcknowledgedLengths, reader: EventReader, clock: Clock) {
    this.#clock = clock;
    this.#lengths = lengths;
    this.#reader = reader;
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
    if (isDue && this.#tryWrite(dispatch, now)) return;
    this.#behind.add(dispatch);
    this.#cancel ??= this.#clock.after(longestDelay, () => this.#writeAll(), { keepsProcess: false });
  }

  /** Writes the exact length of a dispatch. One that is damaged keeps the greater length. @throws an error of the file system */
  settle(taskDir: string, dispatchId: string): void {
    const found = this.#reader.locate(taskDir, dispatchId);
    const { number, length, least } = found;
    if (length >= least) this.#lengths.write(number, taskDir, dispatchId, length);
    for (const dispatch of this.#behind) if (dispatch.number === number) this.#behind.delete(dispatch);
    if (this.#behind.size === 0) this.stop();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#behind.clear();
  }

  #writeAll(): void {
    this.#cancel = null;
    const now = this.#clock.monotonic();
    for (const dispatch of [...this.#behind]) this.#tryWrite(dispatch, now);
  }

  #tryWrite(dispatch: CountedDispatch, now: number): boolean {
    const { number, taskDir, dispatchId, length } = dispatch;
    try {
      // Another opening that took the dispatch over may have written more.
      const written = this.#lengths.read(number, taskDir, dispatchId)?.length ?? -1;
      if (written < length) this.#lengths.write(number, taskDir, dispatchId, length);
    } catch {
      return false;
    }
    dispatch.acknowledged = dispatch.length;
    dispatch.acknowledgedAt = now;
    this.#behind.delete(dispatch);
    return true;
  }
}
