import { type CapturedEvent, type EventData, isEventOf, type Usage } from '@hansard/events';

/** What the model calls of a session used and cost so far: a fold over the log. */
export class UsageTotals {
  #usage: Usage | null = null;
  #costUsd: number | null = null;
  #turns = 0;

  observe(event: CapturedEvent): void {
    if (!isEventOf(event, 'agent:inference')) return;
    const { usage, costUsd } = event.data;
    this.#turns += 1;
    this.#usage = this.#usage === null ? tokensOf(usage) : sum(this.#usage, usage);
    if (costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + costUsd;
  }

  /** The part of a `session:complete` that says what it took. What is not known is left out. */
  get figures(): Pick<EventData<'session:complete'>, 'costUsd' | 'usage' | 'turns'> {
    return {
      turns: this.#turns,
      ...(this.#usage === null ? {} : { usage: this.#usage }),
      ...(this.#costUsd === null ? {} : { costUsd: this.#costUsd }),
    };
  }
}

const cacheCounts = ['cacheReadTokens', 'cacheWriteTokens'] as const;

function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Usage {
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
  };
}

function sum(one: Usage, other: Usage): Usage {
  const total: Usage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
  for (const count of cacheCounts) {
    if (one[count] !== undefined || other[count] !== undefined)
      total[count] = (one[count] ?? 0) + (other[count] ?? 0);
  }
  return total;
}
