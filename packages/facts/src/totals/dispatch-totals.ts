import type {
  CapturedEvent,
  DispatchEnvelope,
  EventData,
  FoldedLog,
  ModelUsage,
  PriceSource,
  Usage,
  UsagePeriods,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import type { PriceTable } from '../prices/price-table.ts';
import { ModelUsages } from './model-usages.ts';
import { PeriodFold } from './period-fold.ts';
import { addAmounts, mostAmount, mostCount } from './sums.ts';
import { addToSum, type Tokens, tokensOf } from './tokens-of.ts';

type ModelCall = EventData<'agent:inference'>;
type Completion = EventData<'session:complete'>;

type TotalsBefore = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models' | 'periods' | 'prices' | 'folded'>;

/** What a fold needs beside the figures to be continued. */
type Unfinished = Omit<FoldedLog, 'through' | 'eventId'>;

const figures = ['usage', 'costUsd', 'models', 'turns'] as const;

type Figure = (typeof figures)[number];

/**
 * The usage and cost of a dispatch so far: a fold over its events, however it ended, or while it runs.
 *
 * 1. Each `agent:inference` adds its tokens and its cost, whichever agent of the dispatch made the call. Workers have
 *    dispatches of their own, so they are not included.
 * 2. `session:complete` states totals of the dispatch so far. Each figure that it states replaces the one counted up to
 *    there; a figure that it leaves out stays as counted.
 * 3. Calls after it are added to each figure, except the call of a message that was in the log before the figure was stated.
 * 4. The cost is the sum of the costs that the log states: a lower bound, if some calls state none. If no event states a
 *    cost it is null, never 0.
 * 5. Turns and duration are known only if a `session:complete` states them and no call follows it.
 * 6. `models` and `prices` are those of `ModelUsages`, by the same rules: a `session:complete` that states figures by model
 *    replaces those counted up to there, and later calls are added.
 * 7. A sum above the largest number of an envelope stays there, and `atLimit` names it.
 * 8. A call that an import recorded under an id of its own, because its source changed the call, is counted as it was first.
 * 9. `periods` has the same figures by time: `PeriodFold`.
 */
export class DispatchTotals {
  #tokens: Tokens | null = null;
  #turns: number | null = null;
  #durationMs: number | null = null;
  #costUsd: number | null = null;
  #calls = 0;
  readonly #models: ModelUsages;
  readonly #periods: PeriodFold;
  /** By agent: its latest message, if that has no `agent:inference` yet. */
  readonly #openMessages = new Map<string, string>();
  /** By figure: the messages that were open at the last `session:complete` that states it, which has counted them. */
  readonly #counted = new Map<Figure, Set<string>>();

  /** With `prices`, calls without a stated cost are estimated. `before`: the figures of the events before these. */
  constructor(prices: PriceTable | null = null, before?: TotalsBefore) {
    this.#models = new ModelUsages(prices, before);
    this.#periods = new PeriodFold(before?.periods);
    if (before === undefined) return;
    const { usage, cost, models, folded } = before;
    this.#tokens = usage === null ? null : tokensOf(usage);
    this.#turns = usage?.turns ?? folded?.turns ?? null;
    this.#durationMs = usage?.durationMs ?? folded?.durationMs ?? null;
    this.#costUsd = cost;
    for (const { calls } of models ?? []) this.#calls += calls;
    for (const { agentId = '', messageId } of folded?.open ?? []) this.#openMessages.set(agentId, messageId);
    for (const figure of figures) {
      const counted = folded?.counted?.[figure];
      if (counted !== undefined) this.#counted.set(figure, new Set(counted));
    }
  }

  /** `isChecked`: the data of the event is known to have the shape of its type, which is then not checked again. */
  observe(event: CapturedEvent, isChecked = false): void {
    const { agentId = '', messageId } = event;
    if (isReadableAs(event, 'agent:inference', isChecked)) {
      if (isRewritten(event.id)) return;
      this.#openMessages.delete(agentId);
      this.#calls += 1;
      this.#add(event.data, event.timestamp, messageId);
    } else if (isReadableAs(event, 'session:complete', isChecked)) {
      this.#replace(event.data);
      this.#settle(event.timestamp);
    } else if (messageId !== undefined) this.#openMessages.set(agentId, messageId);
    this.#periods.observe(event, isChecked);
  }

  get tokens(): Usage | null {
    return this.#tokens === null ? null : { ...this.#tokens };
  }

  /** The tokens, with turns and duration (in milliseconds) if they are known. */
  get usage(): Usage | null {
    if (this.#tokens === null) return null;
    return {
      ...this.#tokens,
      ...(this.#turns === null ? {} : { turns: this.#turns }),
      ...(this.#durationMs === null ? {} : { durationMs: this.#durationMs }),
    };
  }

  get durationMs(): number | null {
    return this.#durationMs;
  }

  get costUsd(): number | null {
    return this.#costUsd;
  }

  get models(): ModelUsage[] | null {
    return this.#models.models;
  }

  get periods(): UsagePeriods | null {
    return this.#periods.periods;
  }

  get prices(): PriceSource | null {
    return this.#models.prices;
  }

  /** The figures that are too large for an envelope, which has the largest number instead. */
  get atLimit(): string[] {
    const totals = Object.entries({ ...this.#tokens, costUsd: this.#costUsd });
    return totals.flatMap(([name, figure]) => (isAtLimit(name, figure) ? [name] : []));
  }

  /** The number of `agent:inference` events. */
  get calls(): number {
    return this.#calls;
  }

  get unfinished(): Unfinished {
    const open = [...this.#openMessages].map(([agentId, messageId]) => ({
      ...(agentId === '' ? {} : { agentId }),
      messageId,
    }));
    const counted = figures.flatMap((figure) => {
      const messages = [...(this.#counted.get(figure) ?? [])];
      return messages.length === 0 ? [] : [[figure, messages] as const];
    });
    return {
      ...(open.length === 0 ? {} : { open }),
      ...(counted.length === 0 ? {} : { counted: Object.fromEntries(counted) }),
      ...(this.#tokens !== null || this.#turns === null ? {} : { turns: this.#turns }),
      ...(this.#tokens !== null || this.#durationMs === null ? {} : { durationMs: this.#durationMs }),
    };
  }

  #add(call: ModelCall, timestamp: string, messageId: string | undefined): void {
    const { usage, costUsd } = call;
    const isCounted = (figure: Figure) =>
      messageId !== undefined &&
      this.#counted.size > 0 &&
      this.#counted.get(figure)?.delete(messageId) === true;
    const isInModels = isCounted('models');
    const isInCost = isCounted('costUsd');
    const isInUsage = isCounted('usage');
    // Until then a statement by model has what no total has.
    const isFirst = this.#tokens === null || (this.#costUsd === null && costUsd !== undefined);
    let estimatedUsd: number | null = null;
    if (isInModels) this.#models.addStated(call);
    else estimatedUsd = this.#models.add(call, timestamp);
    if (!isInCost && costUsd !== undefined) this.#costUsd = addAmounts(this.#costUsd ?? 0, costUsd);
    if (!isInUsage) {
      if (this.#tokens === null) this.#tokens = tokensOf(usage);
      else addToSum(this.#tokens, usage);
    }
    const isStated = isInModels || isInCost || isInUsage;
    if (isStated) this.#periods.countStated(call, timestamp);
    else this.#periods.count(call, timestamp, estimatedUsd);
    if (isStated || isFirst) this.#settle(timestamp);
    if (isCounted('turns')) return;
    this.#turns = null;
    this.#durationMs = null;
  }

  #settle(timestamp: string): void {
    this.#periods.settle(timestamp, { usage: this.#tokens, cost: this.#costUsd, models: this.models });
  }

  #replace({ usage, costUsd, models, turns, durationMs }: Completion): void {
    if (costUsd !== undefined) this.#costUsd = costUsd;
    if (usage !== undefined) this.#tokens = tokensOf(usage);
    if (models !== undefined) this.#models.state(models);
    this.#turns = turns ?? usage?.turns ?? null;
    this.#durationMs = durationMs ?? usage?.durationMs ?? null;
    const stated = { usage, costUsd, models, turns: true };
    for (const figure of figures)
      if (stated[figure] !== undefined) this.#counted.set(figure, new Set(this.#openMessages.values()));
  }
}

/** Whether an import added an event under this id because its own was taken by an earlier form of the event. */
export function isRewritten(id: string): boolean {
  // A fold asks this of each call, and almost no id has the word.
  return id.includes(':rewritten-') && /:rewritten-\d+$/.test(id);
}

function isAtLimit(name: string, figure: number | null | undefined): boolean {
  return figure === (name === 'costUsd' ? mostAmount : mostCount);
}
