import { addCounts, optionalCounts } from '../totals/tokens-of.ts';

/** What was used under one key, such as a model or a day. Null: nothing that was added says it; never 0 for it. */
export interface UsageFigures {
  /** Dispatches, or null where they are not counted. */
  readonly dispatches: number | null;
  /** Calls of models that gave an answer. */
  readonly modelCalls: number | null;
  /** Calls of models that gave none. They are not in `modelCalls`. */
  readonly failedModelCalls: number | null;
  readonly toolCalls: number | null;
  /** Those of `toolCalls` whose result is an error. */
  readonly failedToolCalls: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** The part of the cache writes that is kept for five minutes. */
  readonly cacheWrite5mTokens: number | null;
  /** The part of the cache writes that is kept for an hour. */
  readonly cacheWrite1hTokens: number | null;
  /** The part of the output that models used to think. */
  readonly reasoningTokens: number | null;
  readonly webSearchRequests: number | null;
  readonly webFetchRequests: number | null;
  /** US dollars that logs state. */
  readonly costUsd: number | null;
  /** US dollars that price tables give where logs state none. Never a part of `costUsd`. */
  readonly estimatedUsd: number | null;
  /** What the price tables have no price for, as in `Spending`. Not empty: the estimate is a lower bound. */
  readonly unpriced: readonly string[];
  /** Milliseconds. */
  readonly durationMs: number | null;
}

export interface UsageRow extends UsageFigures {
  readonly key: string;
}

const counts = [
  'dispatches',
  'modelCalls',
  'failedModelCalls',
  'toolCalls',
  'failedToolCalls',
  'inputTokens',
  'outputTokens',
  ...optionalCounts,
] as const;

const nothingUsed: UsageFigures = {
  dispatches: null,
  modelCalls: null,
  failedModelCalls: null,
  toolCalls: null,
  failedToolCalls: null,
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWrite5mTokens: null,
  cacheWrite1hTokens: null,
  reasoningTokens: null,
  webSearchRequests: null,
  webFetchRequests: null,
  costUsd: null,
  estimatedUsd: null,
  unpriced: [],
  durationMs: null,
};

type Sum = { -readonly [Name in keyof UsageFigures]: UsageFigures[Name] };

/** Adds figures up by key. Its memory grows with the keys. */
export class UsageSums {
  readonly #sums = new Map<string, Sum>();

  add(key: string, figures: Partial<UsageFigures>): void {
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { ...nothingUsed };
      this.#sums.set(key, sum);
    }
    addTo(sum, figures);
  }

  get total(): UsageFigures {
    const total = { ...nothingUsed };
    for (const sum of this.#sums.values()) addTo(total, sum);
    return total;
  }

  /** By key, or the ones that used the most first: by tokens, then by cost, then by calls. */
  rows(order: 'key' | 'most'): UsageRow[] {
    const rows = [...this.#sums].map(([key, figures]) => ({ key, ...figures }));
    const byKey = (one: UsageRow, other: UsageRow) => (one.key < other.key ? -1 : 1);
    if (order === 'key') return rows.sort(byKey);
    return rows.sort(
      (one, other) =>
        tokensIn(other) - tokensIn(one) ||
        costIn(other) - costIn(one) ||
        callsIn(other) - callsIn(one) ||
        byKey(one, other),
    );
  }
}

/** All tokens, those of caches included; 0 if none are known. */
export function tokensIn(figures: UsageFigures): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = figures;
  return (inputTokens ?? 0) + (outputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
}

/** Calls of models and tools; 0 if none are known. */
export function callsIn({ modelCalls, toolCalls }: UsageFigures): number {
  return (modelCalls ?? 0) + (toolCalls ?? 0);
}

function costIn({ costUsd, estimatedUsd }: UsageFigures): number {
  return (costUsd ?? 0) + (estimatedUsd ?? 0);
}

/** Adds to a sum that nobody else has, because copies of it cost more than the additions. */
function addTo(sum: Sum, figures: Partial<UsageFigures>): void {
  for (const name of counts) {
    const value = figures[name];
    if (typeof value === 'number') sum[name] = addCounts(sum[name] ?? 0, value);
  }
  for (const name of ['costUsd', 'estimatedUsd', 'durationMs'] as const) {
    const value = figures[name];
    if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value;
  }
  if (figures.unpriced?.length) sum.unpriced = [...new Set([...sum.unpriced, ...figures.unpriced])];
}
