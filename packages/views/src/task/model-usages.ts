import type { DispatchEnvelope, EventData, ModelUsage, PriceSource } from '@hansard/events';
import type { PriceTable } from './price-table.ts';
import { addUsage, tokensOf } from './tokens-of.ts';

/**
 * What each model of a dispatch used: a fold over its `agent:inference` events, whichever agent made the call. With a price
 * table, calls without a stated cost are estimated. A model that the table does not have stays without an estimate.
 */
export class ModelUsages {
  readonly #prices: PriceTable | null;
  readonly #models = new Map<string, ModelUsage>();
  #isAsked = false;

  /** `before`: what the calls before these used. */
  constructor(prices: PriceTable | null = null, before?: Pick<DispatchEnvelope, 'models' | 'prices'>) {
    this.#prices = prices;
    for (const usage of before?.models ?? []) this.#models.set(usage.model, usage);
    this.#isAsked = (before?.prices ?? null) !== null;
  }

  /** Adds a call, made at `timestamp`. */
  add(call: EventData<'agent:inference'>, timestamp: string): void {
    const { model, usage, costUsd } = call;
    const before: ModelUsage = this.#models.get(model) ?? {
      model,
      calls: 0,
      inputTokens: 0,
      outputTokens: 0,
    };
    this.#models.set(model, {
      ...before,
      calls: before.calls + 1,
      ...addUsage(tokensOf(before), usage),
      ...(costUsd === undefined
        ? this.#estimate(call, timestamp, before)
        : { costUsd: (before.costUsd ?? 0) + costUsd }),
    });
  }

  /** By model, in the order of their first calls. Null: no call is recorded. */
  get models(): ModelUsage[] | null {
    return this.#models.size === 0 ? null : [...this.#models.values()];
  }

  /** The table that was asked for prices. Null: none, or every call states its cost. */
  get prices(): PriceSource | null {
    if (this.#prices === null || !this.#isAsked) return null;
    const { name, version, date } = this.#prices;
    return { name, version, date };
  }

  #estimate(
    { model, usage }: EventData<'agent:inference'>,
    timestamp: string,
    before: ModelUsage,
  ): Pick<ModelUsage, 'estimatedUsd' | 'pricedAs'> {
    this.#isAsked = true;
    const price = this.#prices?.priceOf({ model, usage, timestamp }) ?? null;
    if (price === null) return {};
    return { estimatedUsd: (before.estimatedUsd ?? 0) + price.usd, pricedAs: price.model };
  }
}
