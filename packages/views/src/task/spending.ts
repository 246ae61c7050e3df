import type { DispatchEnvelope, ModelUsage, PriceSource } from '@hansard/events';
import { formatCost, formatCount, formatUsage } from '../text/format.ts';
import { withOpenCalls } from './with-open-calls.ts';

/** What a dispatch cost, or several. */
export interface Spending {
  /** US dollars that logs state. Null: none states a cost. */
  readonly costUsd: number | null;
  /** US dollars that price tables give for the dispatches without a stated cost. Null: nothing is estimated. */
  readonly estimatedUsd: number | null;
  /** Models with calls that are in neither amount, because the price tables do not have them. */
  readonly unpricedModels: readonly string[];
}

/** The fields of an envelope that say what its dispatch cost. */
type Costs = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models' | 'prices' | 'openCalls'>;

/** An estimate is given only where the log states no cost for the dispatch. */
export function spendingOf(costs: Costs): Spending {
  const { cost, models, prices } = withOpenCalls(costs);
  if (cost !== null || prices === null || models === null)
    return { costUsd: cost, estimatedUsd: null, unpricedModels: [] };
  const priced = models.filter(({ estimatedUsd, costUsd }) => (estimatedUsd ?? costUsd) !== undefined);
  return {
    costUsd: null,
    estimatedUsd: priced
      .map(({ estimatedUsd = 0, costUsd = 0 }) => estimatedUsd + costUsd)
      .reduce(addFigure, null),
    unpricedModels: models
      .filter((usage) => !priced.includes(usage) && hasTokens(usage))
      .map(({ model }) => model),
  };
}

/** A call that used nothing, such as one that an engine made up, costs nothing. */
function hasTokens({
  inputTokens,
  outputTokens,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: ModelUsage): boolean {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens > 0;
}

/**
 * An amount as `$1.20`; with estimates in it as `≈$1.20`, or as `≈$1.20+` where calls of models without a price are missing.
 * Null: nothing is known.
 */
export function formatSpending({ costUsd, estimatedUsd, unpricedModels }: Spending): string | null {
  if (estimatedUsd === null) return costUsd === null ? null : formatCost(costUsd);
  const more = unpricedModels.length === 0 ? '' : '+';
  return `≈${formatCost((costUsd ?? 0) + estimatedUsd)}${more}`;
}

/**
 * What the signs of `formatSpending` mean for these dispatches, and which models have no price, as a sentence. Null: nothing
 * was looked up in a price table.
 */
export function explainEstimates(envelopes: readonly Costs[]): string | null {
  const spending = envelopes.map(spendingOf).reduce(addSpending, nothingSpent);
  const tables = new Set(
    envelopes
      .map(withOpenCalls)
      .flatMap(({ cost, prices }) => (cost !== null || prices === null ? [] : [nameOf(prices)])),
  );
  const { estimatedUsd, unpricedModels } = spending;
  const source = [...tables].join(' and ');
  if (estimatedUsd === null)
    return unpricedModels.length === 0 ? null : `No price for ${inWords(unpricedModels)} in ${source}.`;
  return `≈ estimated from ${source}${unpricedModels.length === 0 ? '' : `; no price for ${inWords(unpricedModels)}`}.`;
}

const mostNamed = 5;

function inWords(names: readonly string[]): string {
  const others = names.length - mostNamed;
  return `${names.slice(0, mostNamed).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

function nameOf({ name, version, date }: PriceSource): string {
  return `${name} ${version} (${date})`;
}

/** The cost of one dispatch in words, with where an estimate comes from. Null: nothing is known. */
export function costInWords(costs: Costs): string | null {
  const spending = spendingOf(costs);
  const { unpricedModels, estimatedUsd } = spending;
  const { prices } = withOpenCalls(costs);
  const amount = formatSpending(spending);
  if (prices === null || (estimatedUsd === null && unpricedModels.length === 0)) return amount;
  if (estimatedUsd === null)
    return `not known (no price for ${inWords(unpricedModels)} in ${nameOf(prices)})`;
  const unpriced = unpricedModels.length === 0 ? '' : `; no price for ${inWords(unpricedModels)}`;
  return `${amount} (estimated from ${nameOf(prices)}${unpriced})`;
}

/** What each model used, where a dispatch called several: `opus: 3 calls, 300 in, 60 out, $0.20; haiku: …`. Null: at most one. */
export function modelsInWords(costs: Costs): string | null {
  const { cost, models } = withOpenCalls(costs);
  if (models === null || models.length < 2) return null;
  const facts = models.map(({ model, calls, costUsd, estimatedUsd = null, ...usage }) => {
    const spent = {
      costUsd: costUsd ?? null,
      estimatedUsd: cost === null ? estimatedUsd : null,
      unpricedModels: [],
    };
    const amount = formatSpending(spent);
    const its = [
      ...(calls === 0 ? [] : [formatCount(calls, 'call')]),
      formatUsage(usage),
      ...(amount === null ? [] : [amount]),
    ];
    return `${model}: ${its.join(', ')}`;
  });
  return facts.join('; ');
}

/** The sum of several. */
export function addSpending(one: Spending, other: Spending): Spending {
  return {
    costUsd: addFigure(one.costUsd, other.costUsd),
    estimatedUsd: addFigure(one.estimatedUsd, other.estimatedUsd),
    unpricedModels: [...new Set([...one.unpricedModels, ...other.unpricedModels])],
  };
}

export const nothingSpent: Spending = { costUsd: null, estimatedUsd: null, unpricedModels: [] };

/** The sum of what is known; null, and not 0, if nothing is known. */
export function addFigure(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}
