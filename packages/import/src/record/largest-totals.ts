import type { DispatchEnvelope, EnvelopeUpdates, Usage } from '@hansard/events';
import type { DispatchTotals } from '@hansard/views';

/**
 * The totals of an envelope after an import: the larger ones, because an import only adds. Copies of a log that has grown
 * give the totals of the longest, in whatever order they are imported.
 */
export function largestTotals(
  before: Pick<DispatchEnvelope, 'cost' | 'usage'> | null,
  { usage, costUsd }: Pick<DispatchTotals, 'usage' | 'costUsd'>,
): Required<Pick<EnvelopeUpdates, 'cost' | 'usage'>> {
  return {
    cost: larger(before?.cost ?? null, costUsd),
    usage: largerUsage(before?.usage ?? null, usage),
  };
}

function largerUsage(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other;
  const [isOneAsLarge, isOtherAsLarge] = [hasAllOf(one, other), hasAllOf(other, one)];
  // Turns and duration are those of the tokens beside them.
  if (isOneAsLarge !== isOtherAsLarge) return isOneAsLarge ? one : other;
  const usage: Usage = { ...one, ...other };
  for (const figure of Object.keys(usage) as (keyof Usage)[])
    usage[figure] = Math.max(one[figure] ?? 0, other[figure] ?? 0);
  return usage;
}

const tokens = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

function hasAllOf(one: Usage, other: Usage): boolean {
  return tokens.every((count) => (one[count] ?? 0) >= (other[count] ?? 0));
}

function larger(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
