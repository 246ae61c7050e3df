import type { Usage } from '@hansard/events';
import { addCounts } from './sums.ts';

const cacheCounts = ['cacheReadTokens', 'cacheWriteTokens'] as const;

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | (typeof cacheCounts)[number]>;

/** The tokens of a usage, without turns and duration. */
export function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Tokens): Tokens {
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
  };
}

/** The sum of the tokens; each at most `mostCount`. */
export function addUsage(one: Tokens, other: Tokens): Tokens {
  const total: Tokens = {
    inputTokens: addCounts(one.inputTokens, other.inputTokens),
    outputTokens: addCounts(one.outputTokens, other.outputTokens),
  };
  for (const count of cacheCounts) {
    if (one[count] !== undefined || other[count] !== undefined)
      total[count] = addCounts(one[count] ?? 0, other[count] ?? 0);
  }
  return total;
}
