import { type Clock, systemClock } from '@hansard/provider';
import { leavableIterator } from '../async/leavable-iterator.ts';
import { nextTurn } from '../async/next-turn.ts';
import { Notifier } from '../async/notifier.ts';
import { assertCount, assertCursor } from '../check-arguments.ts';
import type { DispatchLog } from '../store/dispatch-log.ts';
import type { DispatchStream, StreamedEvent, StreamItem, StreamOptions } from './dispatch-stream.ts';

export interface ReplayOptions extends StreamOptions {
  /** Absent: `fast`. A number is a factor: 2 is twice as fast as it was. */
  readonly pace?: ReplayPace;
  /** The longest gap between two events, in milliseconds of the replay. Absent: as recorded. */
  readonly maxGapMs?: number;
  /** Begins paused: no event is delivered before `step` or `resume`. */
  readonly paused?: boolean;
  readonly clock?: Clock;
}

/** A replay of a stored dispatch. Ends at the end of the log. It has one state, so run one iteration at a time. */
export interface Replay extends DispatchStream {
  readonly isPaused: boolean;
  /** Stops the time between the events. */
  pause(): void;
  /** Resumes where it was paused, with the remainder of the gap between two events. */
  resume(): void;
  /** Delivers the next event at once, paused or not. Several steps add up. */
  step(): void;
}

/**
 * Replays a stored dispatch: the same events as the live stream, in the same type. The time of each event is counted from the
 * beginning, so that the work of the consumer does not delay the events that follow, as long as it keeps up.
 *
 * @throws STORE_INVALID_CURSOR, TypeError for invalid options; while iterating the errors of `DispatchLog.pages`
 */
export function replayDispatch(log: DispatchLog, options: ReplayOptions = {}): Replay {
  checkOptions(options);
  return new LogReplay(log, options);
}

/** One iteration. */
interface Playing {
  readonly schedule: ReplaySchedule;
  /** When the latest event was due, in the time of the replay; null before the first. */
  due: number | null;
  isOver: boolean;
}

class LogReplay implements Replay {
  readonly #log: DispatchLog;
  readonly #options: ReplayOptions;
  readonly #clock: Clock;
  /** Signals a change that a wait depends on. */
  readonly #notifier = new Notifier();
  /** When the clock was stopped; null: it runs. */
  #pausedAt: number | null = null;
  /** How long it was stopped before. */
  #pausedMs = 0;
  #steps = 0;

  constructor(log: DispatchLog, options: ReplayOptions) {
    this.#log = log;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.paused === true) this.#pausedAt = this.#clock.now();
  }

  get isPaused(): boolean {
    return this.#pausedAt !== null;
  }

  pause(): void {
    this.#pausedAt ??= this.#clock.now();
    this.#notifier.notify();
  }

  resume(): void {
    if (this.#pausedAt !== null) this.#pausedMs += this.#clock.now() - this.#pausedAt;
    this.#pausedAt = null;
    this.#notifier.notify();
  }

  step(): void {
    this.#steps += 1;
    this.#notifier.notify();
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamedEvent, undefined> {
    const { pace = 'fast', maxGapMs = Number.POSITIVE_INFINITY } = this.#options;
    const playing: Playing = {
      schedule: new ReplaySchedule(pace, maxGapMs),
      due: null,
      isOver: false,
    };
    return leavableIterator(this.#play(playing), () => this.#end(playing));
  }

  withDeltas(): AsyncIterable<StreamItem> {
    return this;
  }

  #end(playing: Playing): void {
    playing.isOver = true;
    this.#notifier.notify();
  }

  async *#play(playing: Playing): AsyncGenerator<StreamedEvent, undefined> {
    const { signal } = this.#options;
    const onAbort = () => this.#end(playing);
    signal?.addEventListener('abort', onAbort);
    try {
      if (signal?.aborted) this.#end(playing);
      yield* this.#read(playing);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async *#read(playing: Playing): AsyncGenerator<StreamedEvent, undefined> {
    const { after = -1, pageSize: limit = 256 } = this.#options;
    for await (const page of this.#log.pages({ after, limit })) {
      for (const [index, event] of page.events.entries()) {
        await this.#untilTurn(playing, playing.schedule.gapBefore(event.timestamp));
        if (playing.isOver) return;
        yield { kind: 'event', position: page.first + index, event };
      }
      // A synchronous store would keep timers and signals waiting until the end.
      await nextTurn();
      if (playing.isOver) return;
    }
  }

  /** The time without the pauses. */
  #now(): number {
    return (this.#pausedAt ?? this.#clock.now()) - this.#pausedMs;
  }

  async #untilTurn(playing: Playing, gap: number): Promise<void> {
    let due = playing.due === null ? this.#now() : playing.due + gap;
    while (!playing.isOver) {
      if (this.#steps > 0) {
        this.#steps -= 1;
        due = this.#now();
        break;
      }
      // A clock that was set back must not lengthen the gap.
      const left = Math.min(due - this.#now(), gap);
      if (this.isPaused) await this.#notifier.wait();
      else if (left <= 0 || (await this.#wait(left))) break;
    }
    playing.due = due;
  }

  /** Whether the time is over; false where something changed before. */
  async #wait(ms: number): Promise<boolean> {
    let isOver = false;
    const cancel = this.#clock.after(ms, () => {
      isOver = true;
      this.#notifier.notify();
    });
    await this.#notifier.wait();
    cancel();
    return isOver;
  }
}

function checkOptions({ after = -1, pageSize = 1, pace = 'fast', maxGapMs = 0 }: ReplayOptions): void {
  assertCursor(after);
  assertCount('pageSize', pageSize, 1);
  if (typeof pace === 'number' && !(Number.isFinite(pace) && pace > 0))
    throw new TypeError(`pace must be 'fast', 'original' or a factor above 0; it is ${String(pace)}.`);
  if (!(maxGapMs >= 0)) throw new TypeError(`maxGapMs must be a number from 0; it is ${String(maxGapMs)}.`);
}

/** The speed of a replay: without waiting, as recorded, or faster by this factor. */
export type ReplayPace = 'fast' | 'original' | number;

/** How long each event of a log waits for its turn after the one before, by their timestamps. */
class ReplaySchedule {
  readonly #factor: number;
  readonly #maxGapMs: number;
  #latest: number | null = null;

  constructor(pace: ReplayPace, maxGapMs: number) {
    this.#factor = pace === 'original' ? 1 : pace === 'fast' ? Number.POSITIVE_INFINITY : pace;
    this.#maxGapMs = maxGapMs;
  }

  /** In milliseconds of the replay. An event that is older than its predecessor, or whose time is not recorded, does not wait and does not delay the events after it. */
  gapBefore(timestamp: string | null): number {
    const time = timestamp === null ? Number.NaN : Date.parse(timestamp);
    if (Number.isNaN(time)) return 0;
    const gap = this.#latest === null ? 0 : Math.max(0, time - this.#latest);
    this.#latest = Math.max(time, this.#latest ?? time);
    return Math.min(gap / this.#factor, this.#maxGapMs);
  }
}
