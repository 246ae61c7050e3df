import type { DispatchEnvelope, EnvelopeUpdates, ModelUsage, Usage } from '@hansard/events';
import type { DispatchTotals } from '@hansard/views';

export type LogTotals = Pick<DispatchTotals, 'usage' | 'costUsd' | 'models' | 'prices'>;

/**
 * The totals of an envelope after an import: the larger ones, because an import only adds. Copies of a log that has grown
 * give the totals of the longest, in whatever order they are imported.
 */
export function largestTotals(
  before: Pick<DispatchEnvelope, 'cost' | 'usage' | 'models' | 'prices'> | null,
  { usage, costUsd, models, prices }: LogTotals,
): Required<Pick<EnvelopeUpdates, 'cost' | 'usage' | 'models' | 'prices'>> {
  const isShorter = callsOf(models) < callsOf(before?.models ?? null);
  return {
    // Estimates belong to their price table, so both come from the same import.
    models: isShorter ? (before?.models ?? null) : models,
    prices: isShorter ? (before?.prices ?? null) : prices,
    cost: larger(before?.cost ?? null, costUsd),
    usage: largerUsage(before?.usage ?? null, usage),
  };
}

function callsOf(models: readonly ModelUsage[] | null): number {
  return (models ?? []).reduce((sum, { calls }) => sum + calls, 0);
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
