import type { Usage } from '@hansard/events';

/** The largest count and the largest amount that an envelope can have. A sum above it stays there. */
export const mostCount = Number.MAX_SAFE_INTEGER;

export const mostAmount = Number.MAX_VALUE;

/** The counts of a usage that a source may leave out. */
export const optionalCounts = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite5mTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'webSearchRequests',
  'webFetchRequests',
] as const;

/** The counts of a usage: what adds up over calls. */
export type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | (typeof optionalCounts)[number]>;

/** The counts of a usage, without turns, duration and the terms of a call. */
export function tokensOf(usage: Tokens): Tokens {
  const { inputTokens, outputTokens } = usage;
  const tokens: Tokens = { inputTokens, outputTokens };
  for (const count of optionalCounts) if (usage[count] !== undefined) tokens[count] = usage[count];
  return tokens;
}

/** The sum of the counts; each at most `mostCount`. */
export function addUsage(one: Tokens, other: Tokens): Tokens {
  const total: Tokens = {
    inputTokens: addCounts(one.inputTokens, other.inputTokens),
    outputTokens: addCounts(one.outputTokens, other.outputTokens),
  };
  for (const count of optionalCounts) {
    if (one[count] !== undefined || other[count] !== undefined)
      total[count] = addCounts(one[count] ?? 0, other[count] ?? 0);
  }
  return total;
}

/** As `addUsage`, but changes the sum. A fold does this for each call, and named fields cost a fifth of a loop over names. */
export function addToSum(sum: Tokens, usage: Tokens): void {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const { reasoningTokens, webSearchRequests, webFetchRequests } = usage;
  sum.inputTokens = addCounts(sum.inputTokens, usage.inputTokens);
  sum.outputTokens = addCounts(sum.outputTokens, usage.outputTokens);
  if (cacheReadTokens !== undefined)
    sum.cacheReadTokens = addCounts(sum.cacheReadTokens ?? 0, cacheReadTokens);
  if (cacheWriteTokens !== undefined)
    sum.cacheWriteTokens = addCounts(sum.cacheWriteTokens ?? 0, cacheWriteTokens);
  if (cacheWrite5mTokens !== undefined)
    sum.cacheWrite5mTokens = addCounts(sum.cacheWrite5mTokens ?? 0, cacheWrite5mTokens);
  if (cacheWrite1hTokens !== undefined)
    sum.cacheWrite1hTokens = addCounts(sum.cacheWrite1hTokens ?? 0, cacheWrite1hTokens);
  if (reasoningTokens !== undefined)
    sum.reasoningTokens = addCounts(sum.reasoningTokens ?? 0, reasoningTokens);
  if (webSearchRequests !== undefined)
    sum.webSearchRequests = addCounts(sum.webSearchRequests ?? 0, webSearchRequests);
  if (webFetchRequests !== undefined)
    sum.webFetchRequests = addCounts(sum.webFetchRequests ?? 0, webFetchRequests);
}

/** Whether a call used anything that can cost something. An engine records answers that it made up as calls that used nothing. */
export function isUsed({ webSearchRequests = 0, webFetchRequests = 0, ...tokens }: Tokens): boolean {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = tokens;
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
  return [...counts, webSearchRequests, webFetchRequests].some((count) => count > 0);
}

export function addCounts(one: number, other: number): number {
  return Math.min(one + other, mostCount);
}

export function addAmounts(one: number, other: number): number {
  return Math.min(one + other, mostAmount);
}
