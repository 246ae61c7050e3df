import type { PriceSource, Usage } from '@hansard/events';

/** Prices of model calls, for logs that do not state what a call cost. What it gives is an estimate. */
export interface PriceTable extends PriceSource {
  /**
   * The price of a whole call, at its time: of every part of its usage, its speed, its service tier and its place. Null: the
   * table has no price for this model. A table must not answer for a model that only has a similar name.
   */
  priceOf(call: PricedCall): Price | null;
}

export interface PricedCall {
  /** As the log names it. */
  readonly model: string;
  readonly usage: Usage;
  /** When the call was made: RFC 3339, UTC. Prices change. Null: not recorded; a table then gives its prices of its own `date`. */
  readonly timestamp: string | null;
}

export interface Price {
  readonly usd: number;
  /** The name that the table has for the model. */
  readonly model: string;
  /** The fields of the usage that the table has no price for. `usd` is then what the call cost at least. Absent: none. */
  readonly unpriced?: readonly (keyof Usage)[];
}
