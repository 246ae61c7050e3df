import type {
  DispatchEnvelope,
  EventData,
  EventOf,
  FoldedLog,
  ModelUsage,
  PriceSource,
  Usage,
  UsagePeriods,
} from '@hansard/events';
import type { PriceTable } from '../prices/price-table.ts';
import { isUsual } from './call-terms.ts';
import { ModelUsages } from './model-usages.ts';
import { type ModelPeriod, PeriodFold, type Quarter } from './period-fold.ts';
import { addAmounts, addToSum, mostAmount, mostCount, type Tokens, tokensOf } from './tokens-of.ts';

type ModelCall = EventData<'agent:inference'>;
type Completion = EventData<'session:complete'>;

export type TotalsBefore = Pick<
  DispatchEnvelope,
  'usage' | 'cost' | 'models' | 'periods' | 'prices' | 'folded'
>;

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
 * 10. The tokens of calls of one model in one quarter are added to the sums together, before anything reads or changes these: `CallRun`.
 */
export class DispatchTotals {
  #tokens: Tokens | null = null;
  #turns: number | null = null;
  #durationMs: number | null = null;
  #costUsd: number | null = null;
  #calls = 0;
  readonly #models: ModelUsages;
  readonly byTime: PeriodFold;
  /** The last calls. Null: the next call begins a run. */
  #run: CallRun | null = null;
  #agentId = '';
  /** The latest message of this agent, if that has no `agent:inference` yet. */
  openMessage: string | null = null;
  /** The same of the other agents. */
  readonly #openMessages = new Map<string, string>();
  /** By figure: the messages that were open at the last `session:complete` that states it, which has counted them. */
  readonly #counted = new Map<Figure, Set<string>>();

  /** With `prices`, calls without a stated cost are estimated. `before`: the figures of the events before these. */
  constructor(prices: PriceTable | null = null, before?: TotalsBefore) {
    this.#models = new ModelUsages(prices, before);
    this.byTime = new PeriodFold(before?.periods);
    if (before === undefined) return;
    const { usage, cost, models, folded } = before;
    this.#tokens = usage === null ? null : tokensOf(usage);
    this.#turns = usage?.turns ?? folded?.turns ?? null;
    this.#durationMs = usage?.durationMs ?? folded?.durationMs ?? null;
    this.#costUsd = cost;
    for (const { calls } of models ?? []) this.#calls += calls;
    for (const { agentId = '', messageId } of folded?.open ?? []) this.#openMessages.set(agentId, messageId);
    this.openMessage = this.#openMessages.get(this.#agentId) ?? null;
    for (const figure of figures) {
      const counted = folded?.counted?.[figure];
      if (counted !== undefined) this.#counted.set(figure, new Set(counted));
    }
  }

  /** The next events are of this agent. */
  turnTo(agentId: string): void {
    this.#keepOpenMessage();
    this.#agentId = agentId;
    this.openMessage = this.#openMessages.get(agentId) ?? null;
  }

  #keepOpenMessage(): void {
    if (this.openMessage === null) this.#openMessages.delete(this.#agentId);
    else this.#openMessages.set(this.#agentId, this.openMessage);
  }

  addCall(event: EventOf<'agent:inference'>): void {
    if (isRewritten(event.id)) return;
    this.openMessage = null;
    this.#calls += 1;
    if (!this.#addToRun(event)) this.#add(event.data, event.timestamp, event.messageId);
    this.byTime.nameTools(event);
  }

  /** Adds a call like the one before. False: it is another one. */
  #addToRun({ data, timestamp }: EventOf<'agent:inference'>): boolean {
    const run = this.#run;
    const { usage, costUsd } = data;
    if (run === null || data.model !== run.row.model || !isUsual(usage)) return false;
    if (this.byTime.quarterAt(timestamp) !== run.quarter) return false;
    if (costUsd !== undefined) {
      if (this.#costUsd === null) return false;
      this.#costUsd = addAmounts(this.#costUsd, costUsd);
      run.period.costUsd = addAmounts(run.period.costUsd ?? 0, costUsd);
    }
    const estimatedUsd = this.#models.addCost(run.row, data, timestamp);
    if (estimatedUsd !== null)
      run.period.estimatedUsd = addAmounts(run.period.estimatedUsd ?? 0, estimatedUsd);
    run.calls += 1;
    addToSum(run, usage);
    this.#turns = null;
    this.#durationMs = null;
    return true;
  }

  /** Adds the tokens of the last calls to the sums. */
  #addRun(): void {
    const run = this.#run;
    if (run === null || run.calls === 0 || this.#tokens === null) return;
    addToSum(this.#tokens, run);
    addToSum(run.row, run);
    run.row.calls += run.calls;
    addToSum(run.period, run);
    run.period.modelCalls = (run.period.modelCalls ?? 0) + run.calls;
    this.#run = new CallRun(run.row, run.period, run.quarter);
  }

  addStatement({ data, timestamp }: EventOf<'session:complete'>): void {
    this.#addRun();
    this.#run = null;
    this.#replace(data);
    this.#settle(timestamp);
  }

  get tokens(): Usage | null {
    this.#addRun();
    return this.#tokens === null ? null : { ...this.#tokens };
  }

  /** The tokens, with turns and duration (in milliseconds) if they are known. */
  get usage(): Usage | null {
    const { tokens } = this;
    if (tokens === null) return null;
    return {
      ...tokens,
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
    this.#addRun();
    return this.#models.models;
  }

  get periods(): UsagePeriods | null {
    this.#addRun();
    return this.byTime.periods;
  }

  get prices(): PriceSource | null {
    return this.#models.prices;
  }

  /** The figures that are too large for an envelope, which has the largest number instead. */
  get atLimit(): string[] {
    this.#addRun();
    const totals = Object.entries({ ...this.#tokens, costUsd: this.#costUsd });
    return totals.flatMap(([name, figure]) => (isAtLimit(name, figure) ? [name] : []));
  }

  /** The number of `agent:inference` events. */
  get calls(): number {
    return this.#calls;
  }

  get unfinished(): Unfinished {
    this.#keepOpenMessage();
    const open = [...this.#openMessages].sort(byAgent).map(([agentId, messageId]) => ({
      ...(agentId === '' ? {} : { agentId }),
      messageId,
    }));
    const counted = figures.flatMap((figure) => {
      const messages = [...(this.#counted.get(figure) ?? [])].sort();
      return messages.length === 0 ? [] : [[figure, messages] as const];
    });
    return {
      ...(open.length === 0 ? {} : { open }),
      ...(counted.length === 0 ? {} : { counted: Object.fromEntries(counted) }),
      ...(this.#tokens !== null || this.#turns === null ? {} : { turns: this.#turns }),
      ...(this.#tokens !== null || this.#durationMs === null ? {} : { durationMs: this.#durationMs }),
    };
  }

  #add(call: ModelCall, timestamp: string | null, messageId: string | undefined): void {
    this.#addRun();
    this.#run = null;
    const { usage, costUsd } = call;
    const isInModels = this.#isCounted('models', messageId);
    const isInCost = this.#isCounted('costUsd', messageId);
    const isInUsage = this.#isCounted('usage', messageId);
    // Until then a statement by model has what no total has.
    const isFirst = this.#tokens === null || (this.#costUsd === null && costUsd !== undefined);
    const row = isInModels ? this.#models.addStated(call) : this.#models.add(call);
    const estimatedUsd = isInModels ? null : this.#models.addCost(row, call, timestamp);
    if (!isInCost && costUsd !== undefined) this.#costUsd = addAmounts(this.#costUsd ?? 0, costUsd);
    if (!isInUsage) {
      if (this.#tokens === null) this.#tokens = tokensOf(usage);
      else addToSum(this.#tokens, usage);
    }
    const isStated = isInModels || isInCost || isInUsage;
    if (isStated) this.byTime.countStated(call, timestamp);
    else {
      const period = this.byTime.count(call, timestamp, estimatedUsd);
      // A call with a statement before it can be one that the statement has.
      if (!isFirst && this.#counted.size === 0 && isUsual(usage))
        this.#run = new CallRun(row, period, this.byTime.quarterAt(timestamp));
    }
    if (isStated || isFirst) this.#settle(timestamp);
    if (this.#isCounted('turns', messageId)) return;
    this.#turns = null;
    this.#durationMs = null;
  }

  /** Whether the last statement has this figure of a message. Once: a second call of the message is added. */
  #isCounted(figure: Figure, messageId: string | undefined): boolean {
    if (messageId === undefined || this.#counted.size === 0) return false;
    return this.#counted.get(figure)?.delete(messageId) === true;
  }

  #settle(timestamp: string | null): void {
    this.byTime.settle(timestamp, { usage: this.#tokens, cost: this.#costUsd, models: this.models });
  }

  #replace({ usage, costUsd, models, turns, durationMs }: Completion): void {
    if (costUsd !== undefined) this.#costUsd = costUsd;
    if (usage !== undefined) this.#tokens = tokensOf(usage);
    if (models !== undefined) this.#models.state(models);
    this.#turns = turns ?? usage?.turns ?? null;
    this.#durationMs = durationMs ?? usage?.durationMs ?? null;
    this.#keepOpenMessage();
    const stated = { usage, costUsd, models, turns: true };
    for (const figure of figures)
      if (stated[figure] !== undefined) this.#counted.set(figure, new Set(this.#openMessages.values()));
  }
}

/** Calls of one model in one quarter, without special terms. Its tokens are in no sum yet. */
class CallRun implements Tokens {
  readonly row: ModelUsage;
  readonly period: ModelPeriod;
  readonly quarter: Quarter;
  calls = 0;
  inputTokens = 0;
  outputTokens = 0;
  declare cacheReadTokens?: number;
  declare cacheWriteTokens?: number;
  declare cacheWrite5mTokens?: number;
  declare cacheWrite1hTokens?: number;
  declare reasoningTokens?: number;
  declare webSearchRequests?: number;
  declare webFetchRequests?: number;

  constructor(row: ModelUsage, period: ModelPeriod, quarter: Quarter) {
    this.row = row;
    this.period = period;
    this.quarter = quarter;
  }
}

/** Whether an import added an event under this id because its own was taken by an earlier form of the event. */
export function isRewritten(id: string): boolean {
  // A fold asks this of each call, and almost no id has the word.
  return id.includes(':rewritten-') && /:rewritten-\d+$/.test(id);
}

function byAgent([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

function isAtLimit(name: string, figure: number | null | undefined): boolean {
  return figure === (name === 'costUsd' ? mostAmount : mostCount);
}
