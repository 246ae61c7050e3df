import type { EventData, ModelUsage, PriceSource, StatedModelUsage } from '@hansard/events';
import type { PriceTable } from './price-table.ts';
import { addAmounts } from './sums.ts';
import { addUsage, tokensOf } from './tokens-of.ts';

/**
 * What each model of a dispatch used: a fold over its `agent:inference` events, whichever agent made the call, and over what
 * `session:complete` events state by model. With a price table, calls without a stated cost are estimated. A model that the
 * table does not have stays without an estimate.
 */
export class ModelUsages {
  readonly #prices: PriceTable | null;
  #models = new Map<string, ModelUsage>();
  /** The models with usage for which no event states a cost. */
  readonly #withoutCost = new Set<string>();

  constructor(prices: PriceTable | null = null) {
    this.#prices = prices;
  }

  /** Adds a call, made at `timestamp`. */
  add(call: EventData<'agent:inference'>, timestamp: string): void {
    const { model, usage, costUsd } = call;
    const before = this.#count(model);
    this.#models.set(model, {
      ...before,
      ...addUsage(tokensOf(before), usage),
      ...(costUsd === undefined
        ? this.#estimate(call, timestamp, before)
        : { costUsd: addAmounts(before.costUsd ?? 0, costUsd) }),
    });
  }

  /** Adds a call whose usage was in the last statement. */
  addStated({ model }: EventData<'agent:inference'>): void {
    this.#count(model);
  }

  /**
   * Replaces what was counted. A model that is not stated keeps only its number of calls, because the statement has its usage
   * under another name.
   */
  state(models: readonly StatedModelUsage[]): void {
    const before = this.#models;
    this.#models = new Map(
      models.map((stated) => [stated.model, withStatement(stated, before.get(stated.model))]),
    );
    for (const { model, calls } of before.values())
      if (!this.#models.has(model)) this.#models.set(model, { ...unused(model), calls });
    this.#withoutCost.clear();
    for (const { model, costUsd } of models) if (costUsd === undefined) this.#withoutCost.add(model);
  }

  /** Stated models first, as stated; then in the order of their first calls. Null: no call and no statement is recorded. */
  get models(): ModelUsage[] | null {
    return this.#models.size === 0 ? null : [...this.#models.values()];
  }

  /** The table that was asked for prices. Null: none, or the log states every cost. */
  get prices(): PriceSource | null {
    if (this.#prices === null || this.#withoutCost.size === 0) return null;
    const { name, version, date } = this.#prices;
    return { name, version, date };
  }

  #count(model: string): ModelUsage {
    const before = this.#models.get(model) ?? unused(model);
    const counted = { ...before, calls: before.calls + 1 };
    this.#models.set(model, counted);
    return counted;
  }

  #estimate(
    { model, usage }: EventData<'agent:inference'>,
    timestamp: string,
    before: ModelUsage,
  ): Pick<ModelUsage, 'estimatedUsd' | 'pricedAs'> {
    this.#withoutCost.add(model);
    const price = this.#prices?.priceOf({ model, usage, timestamp }) ?? null;
    if (price === null) return {};
    return { estimatedUsd: addAmounts(before.estimatedUsd ?? 0, price.usd), pricedAs: price.model };
  }
}

function unused(model: string): ModelUsage {
  return { model, calls: 0, inputTokens: 0, outputTokens: 0 };
}

/** Figures that the statement leaves out stay as counted. */
function withStatement(stated: StatedModelUsage, before: ModelUsage = unused(stated.model)): ModelUsage {
  const { model, costUsd } = stated;
  if (costUsd === undefined) return { ...before, ...tokensOf(stated) };
  return { model, calls: before.calls, ...tokensOf(stated), costUsd };
}
