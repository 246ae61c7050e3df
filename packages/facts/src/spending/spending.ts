import type { DispatchEnvelope, ModelUsage, PriceSource } from '@hansard/events';
import { modelInWords } from '../totals/call-terms.ts';
import { isUsed } from '../totals/tokens-of.ts';
import { withOpenCalls } from '../totals/with-open-calls.ts';
import { formatCost, formatCount, formatTokens, formatUsage } from './format.ts';

/** What a dispatch cost, or several. */
export interface Spending {
  /** US dollars that logs state. Null: none states a cost. */
  readonly costUsd: number | null;
  /** US dollars that price tables give for the dispatches without a stated cost. Null: nothing is estimated. */
  readonly estimatedUsd: number | null;
  /**
   * What is in neither amount, because the price tables do not have it: models, and parts of models in words, such as `fast mode
   * of claude-opus-4-7`. Not empty: the sum is a lower bound.
   */
  readonly unpriced: readonly string[];
}

/** The fields of an envelope that say what its dispatch cost. */
type Costs = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models' | 'prices' | 'openCalls'>;

/** An estimate is given only where the log states no cost for the dispatch. */
export function spendingOf(costs: Costs): Spending {
  const { cost, models, prices } = withOpenCalls(costs);
  if (cost !== null || prices === null || models === null)
    return { costUsd: cost, estimatedUsd: null, unpriced: [] };
  const priced = models.filter(({ estimatedUsd, costUsd }) => (estimatedUsd ?? costUsd) !== undefined);
  return {
    costUsd: null,
    estimatedUsd: priced
      .map(({ estimatedUsd = 0, costUsd = 0 }) => estimatedUsd + costUsd)
      .reduce(addFigure, null),
    unpriced: unpricedOf(models),
  };
}

/** Models without a price, and the parts of the others that have none, in words. */
export function unpricedOf(models: readonly ModelUsage[]): string[] {
  const all = models.flatMap((usage) => {
    const { model, costUsd, estimatedUsd, unpriced = [] } = usage;
    if ((estimatedUsd ?? costUsd) === undefined) return isUsed(usage) ? [model] : [];
    return unpriced.map((part) => `${partInWords(part, usage)} of ${model}`);
  });
  return [...new Set(all)];
}

const partNames: Readonly<Record<string, string>> = {
  cacheReadTokens: 'cache reads',
  cacheWriteTokens: 'cache writes',
  cacheWrite5mTokens: 'five-minute cache writes',
  cacheWrite1hTokens: 'one-hour cache writes',
  reasoningTokens: 'reasoning',
  webSearchRequests: 'web searches',
  webFetchRequests: 'web fetches',
};

function partInWords(part: string, { speed, serviceTier, inferenceGeo }: ModelUsage): string {
  if (part === 'speed') return `${speed ?? 'special'} mode`;
  if (part === 'serviceTier') return `${serviceTier ?? 'special'} tier`;
  if (part === 'inferenceGeo') return `inference in ${inferenceGeo ?? 'a special place'}`;
  return partNames[part] ?? part;
}

/**
 * An amount as `$1.20`; with estimates in it as `≈$1.20`, or as `≈$1.20+` where calls or parts of calls without a price are missing.
 * Null: nothing is known.
 */
export function formatSpending({ costUsd, estimatedUsd, unpriced }: Spending): string | null {
  if (estimatedUsd === null) return costUsd === null ? null : formatCost(costUsd);
  const more = unpriced.length === 0 ? '' : '+';
  return `≈${formatCost((costUsd ?? 0) + estimatedUsd)}${more}`;
}

/**
 * The meaning of the signs of `formatSpending` for these dispatches, and the models and parts without a price, as a sentence. Null: nothing
 * was looked up in a price table.
 */
export function explainEstimates(envelopes: readonly Costs[]): string | null {
  const spending = envelopes.map(spendingOf).reduce(addSpending, nothingSpent);
  const tables = new Set(
    envelopes
      .map(withOpenCalls)
      .flatMap(({ cost, prices }) => (cost !== null || prices === null ? [] : [nameOf(prices)])),
  );
  const { estimatedUsd, unpriced } = spending;
  const source = [...tables].join(' and ');
  if (estimatedUsd === null)
    return unpriced.length === 0 ? null : `No price for ${inWords(unpriced)} in ${source}.`;
  return `≈ estimated from ${source}${unpriced.length === 0 ? '' : `; no price for ${inWords(unpriced)}`}.`;
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
  const { unpriced, estimatedUsd } = spending;
  const { prices } = withOpenCalls(costs);
  const amount = formatSpending(spending);
  if (prices === null || (estimatedUsd === null && unpriced.length === 0)) return amount;
  if (estimatedUsd === null) return `not known (no price for ${inWords(unpriced)} in ${nameOf(prices)})`;
  const missing = unpriced.length === 0 ? '' : `; no price for ${inWords(unpriced)}`;
  return `${amount} (estimated from ${nameOf(prices)}${missing})`;
}

/**
 * What each model used, where a dispatch called several: `opus: 3 calls, 300 in, 60 out, $0.20; haiku: …`. Also for calls of one model
 * with special terms: `opus (fast): …`. Null: at most one row without special terms.
 */
export function modelsInWords(costs: Costs): string | null {
  const { cost, models } = withOpenCalls(costs);
  if (models === null || (models.length < 2 && models.every((usage) => modelInWords(usage) === usage.model)))
    return null;
  const facts = models.map((usage) => {
    const { calls, costUsd, estimatedUsd = null } = usage;
    const spent = {
      costUsd: costUsd ?? null,
      estimatedUsd: cost === null ? estimatedUsd : null,
      unpriced: cost === null && estimatedUsd !== null ? unpricedOf([usage]) : [],
    };
    const amount = formatSpending(spent);
    const { speed, serviceTier, inferenceGeo, ...counts } = usage;
    const its = [
      ...(calls === 0 ? [] : [formatCount(calls, 'call')]),
      formatUsage(counts),
      ...(amount === null ? [] : [amount]),
    ];
    return `${modelInWords(usage)}: ${its.join(', ')}`;
  });
  return facts.join('; ');
}

/** The sum of several. */
export function addSpending(one: Spending, other: Spending): Spending {
  return {
    costUsd: addFigure(one.costUsd, other.costUsd),
    estimatedUsd: addFigure(one.estimatedUsd, other.estimatedUsd),
    unpriced: [...new Set([...one.unpriced, ...other.unpriced])],
  };
}

export const nothingSpent: Spending = { costUsd: null, estimatedUsd: null, unpriced: [] };

/** The sum of what is known; null, and not 0, if nothing is known. */
export function addFigure(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}

/** The figures of a dispatch, or the sums over several, of the figures that are known. Null: not known (yet). */
export interface DispatchFigures extends Spending {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly turns: number | null;
  /** The agent's own time in milliseconds. The sum over several includes dispatches that ran at the same time. */
  readonly durationMs: number | null;
}

export function figuresOf(recorded: DispatchEnvelope): DispatchFigures {
  const envelope = withOpenCalls(recorded);
  const { usage } = envelope;
  return {
    ...spendingOf(envelope),
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    turns: usage?.turns ?? null,
    durationMs: dispatchDuration(envelope),
  };
}

export function addFigures(one: DispatchFigures, other: DispatchFigures): DispatchFigures {
  return {
    ...addSpending(one, other),
    inputTokens: addFigure(one.inputTokens, other.inputTokens),
    outputTokens: addFigure(one.outputTokens, other.outputTokens),
    turns: addFigure(one.turns, other.turns),
    durationMs: addFigure(one.durationMs, other.durationMs),
  };
}

/** The duration of a dispatch in milliseconds: as it reports, otherwise from its start to its end; null while it runs, or if
 * one of the two is not recorded. */
export function dispatchDuration({ usage, startedAt, completedAt }: DispatchEnvelope): number | null {
  if (usage?.durationMs !== undefined) return usage.durationMs;
  return completedAt === null || startedAt === null
    ? null
    : Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
}

/** All tokens of a dispatch, with cached tokens, and how many of them are copied from another dispatch. Null if not known. */
export function tokensInWords(envelope: DispatchEnvelope): string | null {
  const { usage, source, forkedFrom } = envelope;
  if (usage === null) return null;
  const copies = source?.copies?.figures;
  const copied = copies === undefined ? allOf(forkedFrom?.usage ?? null) : allOf(usage) - allOf(copies.usage);
  const words = formatTokens(allOf(usage));
  return copied <= 0 ? words : `${words} (${formatTokens(copied)} copied)`;
}

function allOf(usage: DispatchEnvelope['usage']): number {
  if (usage === null) return 0;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
