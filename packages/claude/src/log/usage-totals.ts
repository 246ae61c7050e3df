import type { Usage } from '@hansard/events';
import { RecentMap } from '../values/recent-map.ts';

const mostRemembered = 1_000;

/** Adds up the usage of a session's messages. The last figures of each message count. */
export class UsageTotals {
  readonly #total = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  #messages = 0;
  readonly #latest = new RecentMap<Usage>(mostRemembered);

  add(messageId: string | undefined, usage: Usage): void {
    this.#messages += 1;
    this.#count(usage, 1);
    if (messageId !== undefined) this.#latest.set(messageId, usage);
  }

  /** Replaces the figures of a counted message, if it is still remembered. */
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
