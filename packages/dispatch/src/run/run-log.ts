import { type CapturedEvent, type NewEvent, toTimestamp } from '@hansard/events';
import { DispatchTotals } from '@hansard/views/basics';
import type { Dispatch } from '../store/dispatch.ts';
import type { RecordedTime } from './recorded-time.ts';

/** The log of one run: its dispatch, with the usage and cost that its recorded events state. */
export class RunLog {
  readonly dispatch: Dispatch;
  readonly totals = new DispatchTotals();
  /** The model calls in `totals`: an event that is recorded again changes nothing in the log. */
  readonly #counted = new Set<string>();
  readonly #recordedTime: RecordedTime | null;

  /** `recordedTime`: the time of the recording that the agent replays; null for an agent that runs now. */
  constructor(dispatch: Dispatch, recordedTime: RecordedTime | null) {
    this.dispatch = dispatch;
    this.#recordedTime = recordedTime;
  }

  async append(event: NewEvent): Promise<CapturedEvent> {
    const recorded = await this.dispatch.append(event);
    this.#recordedTime?.observe(recorded);
    this.#count(recorded);
    return recorded;
  }

  /** The end time of a run that ends now. */
  endsAt(now: number): string {
    return toTimestamp(this.#recordedTime?.now() ?? now);
  }

  #count(event: CapturedEvent): void {
    if (event.type === 'agent:inference') {
      if (this.#counted.has(event.id)) return;
      this.#counted.add(event.id);
    }
    this.totals.observe(event);
  }
}
