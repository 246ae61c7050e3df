import type { Usage } from '@hansard/events';
import { RecentMap } from '../values/recent-map.ts';

const mostRemembered = 1_000;

/** Adds up what the messages of a session used, each by the last figures that were heard of it. */
export class UsageTotals {
  readonly #total = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  #messages = 0;
  readonly #latest = new RecentMap<Usage>(mostRemembered);

  add(messageId: string | undefined, usage: Usage): void {
    this.#messages += 1;
    this.#count(usage, 1);
    if (messageId !== undefined) this.#latest.set(messageId, usage);
  }

  /** Takes other figures for a message that was counted, where it is remembered. */
  replace(messageId: string, usage: Usage): void {
    const before = this.#latest.get(messageId);
    if (before === undefined) return;
    this.#count(before, -1);
    this.#count(usage, 1);
    this.#latest.set(messageId, usage);
  }

  get usage(): Usage | null {
    return this.#messages === 0 ? null : { ...this.#total };
  }

  #count(usage: Usage, sign: 1 | -1): void {
    const total = this.#total;
    total.inputTokens += sign * usage.inputTokens;
    total.outputTokens += sign * usage.outputTokens;
    total.cacheReadTokens += sign * (usage.cacheReadTokens ?? 0);
    total.cacheWriteTokens += sign * (usage.cacheWriteTokens ?? 0);
  }
}
