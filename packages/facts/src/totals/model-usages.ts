import type { DispatchEnvelope, EventData, ModelUsage, PriceSource, StatedModelUsage } from '@hansard/events';
import type { Price, PriceTable } from '../prices/price-table.ts';
import { type CallTerms, isUsual, specialTerms } from './call-terms.ts';
import { addAmounts, addCounts, addToSum, addUsage, isUsed, tokensOf } from './tokens-of.ts';

/**
 * What each model of a dispatch used: a fold over its `agent:inference` events, whichever agent made the call, and over what
 * `session:complete` events state by model. With a price table, calls without a stated cost are estimated. A model that the
 * table does not have stays without an estimate.
 */
export class ModelUsages {
  readonly #prices: PriceTable | null;
  /** By `rowKey`. */
  #models = new Map<string, ModelUsage>();
  /** The models with usage for which no event states a cost. */
  readonly #withoutCost = new Set<string>();
  /** The table that was asked for calls before these, unless a statement has replaced them. */
  #pricesBefore: PriceSource | null;

  /** `before`: what the calls before these used. */
  constructor(prices: PriceTable | null = null, before?: Pick<DispatchEnvelope, 'models' | 'prices'>) {
    this.#prices = prices;
    this.#pricesBefore = before?.prices ?? null;
    for (const usage of before?.models ?? []) this.#models.set(rowKey(usage), { ...usage });
  }

  /** Counts a call and adds its tokens. Returns its row. */
  add({ model, usage }: EventData<'agent:inference'>): ModelUsage {
    const row = this.#count(isUsual(usage) ? { model } : { model, ...specialTerms(usage) });
    addToSum(row, usage);
    return row;
  }

  /** Adds the cost of a call, made at `timestamp` (null: not recorded), to its row. Returns the amount that it is estimated at, if it is. */
  addCost(row: ModelUsage, call: EventData<'agent:inference'>, timestamp: string | null): number | null {
    if (call.costUsd !== undefined) {
      row.costUsd = addAmounts(row.costUsd ?? 0, call.costUsd);
      return null;
    }
    const price = this.#priceOf(call, timestamp);
    if (price === null) return null;
    row.estimatedUsd = addAmounts(row.estimatedUsd ?? 0, price.usd);
    row.pricedAs = price.model;
    Object.assign(row, unpricedOf(row.unpriced, price.unpriced));
    return price.usd;
  }

  /** Adds a call whose usage was in the last statement. */
  addStated({ model }: EventData<'agent:inference'>): ModelUsage {
    return this.#count({ model });
  }

  /**
   * Replaces what was counted. A statement has one row for all calls of a model, whatever their terms. A model that is not stated
   * keeps only its number of calls, because the statement has its usage under another name.
   */
  state(models: readonly StatedModelUsage[]): void {
    const before = new Map<string, ModelUsage>();
    for (const { speed, serviceTier, inferenceGeo, ...row } of this.#models.values()) {
      const others = before.get(row.model);
      before.set(row.model, others === undefined ? row : addRows(others, row));
    }
    this.#models = new Map(
      models.map((stated) => [
        rowKey({ model: stated.model }),
        withStatement(stated, before.get(stated.model)),
      ]),
    );
    const named = new Set(models.map(({ model }) => model));
    for (const { model, calls } of before.values())
      if (calls > 0 && !named.has(model))
        this.#models.set(rowKey({ model }), { ...unused({ model }), calls });
    this.#withoutCost.clear();
    this.#pricesBefore = null;
    for (const { model, costUsd } of models) if (costUsd === undefined) this.#withoutCost.add(model);
  }

  /** Stated models first, as stated; then in the order of their first calls. Null: no call and no statement is recorded. */
  get models(): ModelUsage[] | null {
    return this.#models.size === 0 ? null : [...this.#models.values()].map((row) => ({ ...row }));
  }

  /** The table that was asked for prices. Null: none, or the log states every cost. */
  get prices(): PriceSource | null {
    if (this.#prices === null || this.#withoutCost.size === 0) return this.#pricesBefore;
    const { name, version, date } = this.#prices;
    return { name, version, date };
  }

  #count(row: Row): ModelUsage {
    const key = rowKey(row);
    const counted = this.#models.get(key) ?? unused(row);
    if (counted.calls === 0) this.#models.set(key, counted);
    counted.calls += 1;
    return counted;
  }

  #priceOf({ model, usage }: EventData<'agent:inference'>, timestamp: string | null): Price | null {
    if (!isUsed(usage)) return null;
    this.#withoutCost.add(model);
    return this.#prices?.priceOf({ model, usage, timestamp }) ?? null;
  }
}

/** The key of a row: its model and the terms of its calls. */
type Row = CallTerms & Pick<ModelUsage, 'model'>;

/** The key of a row among those of its dispatch: its model and special terms. */
export function rowKey({ model, speed = '', serviceTier = '', inferenceGeo = '' }: Row): string {
  if (speed === '' && serviceTier === '' && inferenceGeo === '') return model;
  return `${model}\0${JSON.stringify([speed, serviceTier, inferenceGeo])}`;
}

function unused({ model, ...usage }: Row): ModelUsage {
  return { model, ...specialTerms(usage), calls: 0, inputTokens: 0, outputTokens: 0 };
}

function unpricedOf(...lists: (readonly string[] | undefined)[]): Pick<ModelUsage, 'unpriced'> {
  const unpriced = [...new Set(lists.flatMap((list) => list ?? []))].sort();
  return unpriced.length === 0 ? {} : { unpriced };
}

/** The sum of two rows, which have the same special terms. */
export function addRows(one: ModelUsage, other: ModelUsage): ModelUsage {
  const calls = addCounts(one.calls, other.calls);
  const sum = { ...one, ...other, ...addUsage(one, other), calls };
  for (const amount of ['costUsd', 'estimatedUsd'] as const)
    if (one[amount] !== undefined || other[amount] !== undefined)
      sum[amount] = addAmounts(one[amount] ?? 0, other[amount] ?? 0);
  return { ...sum, ...unpricedOf(one.unpriced, other.unpriced) };
}

/** Figures that the statement leaves out stay as counted. */
function withStatement(stated: StatedModelUsage, before: ModelUsage = unused(stated)): ModelUsage {
  const { model, costUsd } = stated;
  if (costUsd === undefined) return { ...before, ...tokensOf(stated) };
  return { model, calls: before.calls, ...tokensOf(stated), costUsd };
}
