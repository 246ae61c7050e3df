import { type CapturedEvent, type NewEvent, toTimestamp } from '@hansard/events';
import type { Dispatch } from '../store/dispatch.ts';

/** The log of one run: its dispatch, and the time that a recording has reached. */
export class RunLog {
  readonly dispatch: Dispatch;
  readonly #recordedTime: RecordedTime | null;
  #onRecorded: (event: CapturedEvent) => void = () => {};

  /** `recordedTime`: the time of the recording that the agent replays; null for an agent that runs now. */
  constructor(dispatch: Dispatch, recordedTime: RecordedTime | null) {
    this.dispatch = dispatch;
    this.#recordedTime = recordedTime;
  }

  /** `listener` receives each event that is recorded from now on. */
  onRecorded(listener: (event: CapturedEvent) => void): void {
    this.#onRecorded = listener;
  }

  async append(event: NewEvent): Promise<CapturedEvent> {
    const recorded = await this.dispatch.append(event);
    this.#recordedTime?.observe(recorded);
    this.#onRecorded(recorded);
    return recorded;
  }

  /** The end time of a run that ends now. */
  endsAt(now: number): string {
    return toTimestamp(this.#recordedTime?.now() ?? now);
  }
}

/** The time that a recording has reached while it is played. What the harness adds to the recording gets this time. */
export class RecordedTime {
  #latest: number;

  /** RFC 3339. */
  constructor(start: string) {
    this.#latest = Date.parse(start);
  }

  now(): number {
    return this.#latest;
  }

  observe({ timestamp }: CapturedEvent): void {
    if (timestamp !== null) this.#latest = Math.max(this.#latest, Date.parse(timestamp));
  }
}
