import { type CapturedEvent, isEventOf } from '@hansard/events';

/** Adds up what a dispatch has cost so far, in US dollars, from what its events say. */
export class CostMeter {
  #spent = 0;

  get spent(): number {
    return this.#spent;
  }

  /** A model call adds its cost; `session:complete` holds the total so far. */
  observe(event: CapturedEvent): void {
    if (isEventOf(event, 'agent:inference')) this.#spent += event.data.costUsd ?? 0;
    else if (isEventOf(event, 'session:complete'))
      this.#spent = Math.max(this.#spent, event.data.costUsd ?? 0);
  }
}
