import type {
  CapturedEvent,
  DispatchEnvelope,
  EventData,
  ModelUsage,
  OpenToolCall,
  Usage,
  UsagePeriods,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { type CallTerms, modelInWords, specialTerms } from './call-terms.ts';
import { failedModelCall } from './failed-model-call.ts';
import { addAmounts, addCounts } from './sums.ts';
import { addToSum, optionalCounts, type Tokens } from './tokens-of.ts';

export const quarterMs = 15 * 60_000;

/** The figures that periods must sum up to. */
export type PeriodTotals = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models'>;

type ModelCall = EventData<'agent:inference'>;

const tokenFigures = ['inputTokens', 'outputTokens', ...optionalCounts] as const;
const amounts = ['costUsd', 'estimatedUsd'] as const;
const figures = [
  ...(['modelCalls', 'failedModelCalls', 'toolCalls', 'failedToolCalls'] as const),
  ...tokenFigures,
  ...amounts,
] as const;

type Amount = (typeof amounts)[number];
type Figure = (typeof figures)[number];
type Totals = { [Name in Figure]?: number };

/** What was used of one model in a quarter of an hour. Absent: 0, or nothing recorded states it. */
export type UsagePeriod = Place & Totals;

interface Place {
  readonly start: string;
  /** Null: not known. */
  readonly model: string | null;
}

interface LatestRow {
  readonly row: UsagePeriod;
  /** The beginning of its times: `2026-03-01T09:`. */
  readonly hour: string;
  /** Its quarter of the hour, from 0. */
  readonly quarter: number;
}

/** The figures that `usage`, `cost` and `models` of an envelope have, too. */
const settled = ['modelCalls', ...tokenFigures, ...amounts] as const;

/** For each agent. Calls without a result, such as those of a killed process, must not grow an envelope. */
const mostOpen = 64;

/**
 * What a dispatch used by quarter of an hour and model: a fold over its events, beside `DispatchTotals`. Every offset of a time
 * zone is a multiple of a quarter (before 1972 not of all), so days of each zone are sums of periods.
 *
 * 1. A call of a model counts at the time of its `agent:inference`.
 * 2. A call of a tool counts at its own time and under the model of its message, its failure, too. Without an
 *    `agent:inference` of the message the model is null.
 * 3. A failed call of a model counts at the time of its report. No log names its model, so that is null.
 * 4. `settle` holds the law: the periods sum up to the totals of the envelope. What a statement has more than the counted calls is
 *    in the quarter of the statement, under the stated model or null. What it has less is taken from the latest quarters.
 */
export class PeriodFold {
  readonly #rows = new Map<string, UsagePeriod>();
  #open: OpenToolCall[];
  /** The row of the last call. */
  #latest: LatestRow | null = null;

  /** `before`: the periods of events before these. */
  constructor(before: UsagePeriods | null = null) {
    if (before !== null) for (const row of rowsOf(before)) this.#rows.set(keyOf(row), row);
    this.#open = (before?.open ?? []).map((call) => ({ ...call }));
  }

  /** By time and model: files of agents that are read in another order give the same rows. */
  get rows(): readonly Readonly<UsagePeriod>[] {
    return [...this.#rows.values()].sort(
      (one, other) => compare(one.start, other.start) || compare(one.model ?? '', other.model ?? ''),
    );
  }

  /**
   * As an envelope has them. Null: no event was counted. The order depends only on the order of the events of each agent: several
   * files of one log can be read in any order.
   */
  get periods(): UsagePeriods | null {
    if (this.#rows.size === 0) return null;
    const { rows } = this;
    const columns: Omit<UsagePeriods, 'open'> = {
      start: rows.map(({ start }) => start),
      model: rows.map(({ model }) => model),
    };
    for (const figure of figures)
      if (rows.some((row) => row[figure] !== undefined))
        columns[figure] = rows.map((row) => row[figure] ?? null);
    const open = this.#open.map((call) => ({ ...call }));
    return { ...columns, open: open.sort(byAgent) };
  }

  /** Counts calls of tools, and calls of models that failed. `isChecked`: the data has the shape of its type. */
  observe(event: CapturedEvent, isChecked = false): void {
    const { type, timestamp } = event;
    const isToolEvent = type === 'agent:tool_call' || type === 'agent:tool_result';
    if (!isToolEvent && type !== 'agent:inference') {
      if (failedModelCall(event))
        this.#add({ start: quarterOf(timestamp), model: null }, 'failedModelCalls', 1);
    } else if (isReadableAs(event, 'agent:tool_call', isChecked)) this.#call(event, event.data);
    else if (isReadableAs(event, 'agent:tool_result', isChecked)) this.#result(timestamp, event.data);
    else if (this.#open.length > 0 && isReadableAs(event, 'agent:inference', isChecked))
      this.#name(event, namedAs(event.data.model, event.data.usage));
  }

  /** Counts a call of a model. */
  count({ model, usage, costUsd }: ModelCall, timestamp: string, estimatedUsd: number | null): void {
    const row = this.#rowOf(model, usage, timestamp);
    row.modelCalls = (row.modelCalls ?? 0) + 1;
    row.inputTokens ??= 0;
    row.outputTokens ??= 0;
    addToSum(row as UsagePeriod & Tokens, usage);
    if (costUsd !== undefined) row.costUsd = addAmounts(row.costUsd ?? 0, costUsd);
    if (estimatedUsd !== null) row.estimatedUsd = addAmounts(row.estimatedUsd ?? 0, estimatedUsd);
  }

  /** Counts a call whose usage is in a statement. */
  countStated({ model, usage }: ModelCall, timestamp: string): void {
    const row = this.#rowOf(model, usage, timestamp);
    row.modelCalls = (row.modelCalls ?? 0) + 1;
  }

  /** Mostly the row of the call before: an append costs almost nothing then. */
  #rowOf(model: string, usage: Usage, timestamp: string): UsagePeriod {
    const { speed, serviceTier, inferenceGeo } = usage;
    const isUsual = speed === undefined && serviceTier === undefined && inferenceGeo === undefined;
    const latest = this.#latest;
    if (isUsual && latest !== null && latest.row.model === model && isInQuarter(timestamp, latest))
      return latest.row;
    const at = { start: quarterOf(timestamp), model: isUsual ? model : namedAs(model, usage) };
    const row = this.#row(at);
    this.#latest = { row, hour: at.start.slice(0, 'YYYY-MM-DDTHH:'.length), quarter: quarterIn(at.start) };
    return row;
  }

  /** Makes the periods sum up to the totals, as a statement of this time gives them. */
  settle(timestamp: string, { usage, cost, models }: PeriodTotals): void {
    const start = quarterOf(timestamp);
    if (models !== null) this.#settleModels(start, models);
    const counted = this.#sums(() => null).get(null) ?? {};
    const all = { start, model: null };
    if (usage !== null)
      for (const figure of tokenFigures)
        if (usage[figure] !== counted[figure])
          this.#move(all, figure, [usage[figure], counted[figure]], () => null);
    if (cost !== null) this.#move(all, 'costUsd', [cost, counted.costUsd], () => null);
  }

  #settleModels(start: string, models: readonly ModelUsage[]): void {
    const stated = totalsByModel(models);
    const modelOf = (row: UsagePeriod) => (row.model === null ? null : groupOf(row.model, stated));
    const counted = this.#sums(modelOf);
    for (const used of models) if (!counted.has(used.model)) this.#state(start, used);
    for (const [model, sums] of counted) {
      if (model === null) continue;
      const totals = stated.get(model) ?? {};
      for (const figure of settled)
        if (totals[figure] !== sums[figure])
          this.#move({ start, model }, figure, [totals[figure], sums[figure]], modelOf);
    }
  }

  /** Adds a model that no call was counted of. */
  #state(start: string, used: ModelUsage): void {
    const at = { start, model: namedAs(used.model, used) };
    for (const figure of settled) {
      const value = figure === 'modelCalls' ? used.calls : used[figure];
      if (value !== undefined) this.#add(at, figure, value);
    }
  }

  #sums(keyOf: (row: UsagePeriod) => string | null): Map<string | null, Totals> {
    const sums = new Map<string | null, Totals>();
    for (const row of this.#rows.values()) {
      const key = keyOf(row);
      const sum = sums.get(key) ?? {};
      sums.set(key, sum);
      for (const figure of settled) {
        const value = row[figure];
        if (value === undefined) continue;
        const before = sum[figure];
        sum[figure] = before === undefined ? value : plus(figure, before, value);
      }
    }
    return sums;
  }

  /** Makes a figure of a model, or of all if that is null, sum up to what is stated. */
  #move(
    at: Place,
    figure: Figure,
    [stated, counted]: readonly [number | undefined, number | undefined],
    modelOf: (row: UsagePeriod) => string | null,
  ): void {
    const total = stated ?? 0;
    let missing = total - (counted ?? 0);
    // Sums of amounts in another order differ in their last digits.
    if (Math.abs(missing) <= (isAmount(figure) ? 1e-9 * Math.max(1, total) : 0)) {
      // A total of 0 is known, too.
      if (stated === 0 && counted === undefined && at.model === null) this.#add(at, figure, 0);
    } else if (missing > 0) this.#add(at, figure, missing);
    else {
      const rows = [...this.#rows.values()].filter((row) => modelOf(row) === at.model);
      for (const row of rows.sort(unnamedThenLatest)) {
        const taken = Math.min(row[figure] ?? 0, -missing);
        if (taken > 0) this.#set(row, figure, (row[figure] ?? 0) - taken);
        missing += taken;
      }
    }
  }

  #call(
    { timestamp, messageId, agentId }: CapturedEvent,
    { toolCallId }: EventData<'agent:tool_call'>,
  ): void {
    const start = quarterOf(timestamp);
    this.#add({ start, model: null }, 'toolCalls', 1);
    // The message before has no `agent:inference`, or it is counted.
    const isOver = (call: OpenToolCall) =>
      call.status !== undefined && call.agentId === agentId && call.messageId !== messageId;
    this.#open = this.#open.filter((call) => !isOver(call));
    this.#open.push({
      toolCallId,
      start,
      model: null,
      ...(messageId === undefined ? {} : { messageId }),
      ...(agentId === undefined ? {} : { agentId }),
    });
    if (this.#open.length <= mostOpen) return;
    const ofAgent = this.#open.filter((call) => call.agentId === agentId);
    if (ofAgent.length > mostOpen) this.#open = this.#open.filter((call) => call !== ofAgent[0]);
  }

  #result(timestamp: string, { toolCallId, status }: EventData<'agent:tool_result'>): void {
    const call = this.#open.find((open) => open.toolCallId === toolCallId && open.status === undefined);
    if (status === 'error')
      this.#add(call ?? { start: quarterOf(timestamp), model: null }, 'failedToolCalls', 1);
    if (call === undefined) return;
    call.status = status;
    if (call.model !== null || call.messageId === undefined)
      this.#open = this.#open.filter((open) => open !== call);
  }

  /** Gives the calls of a message their model. */
  #name({ messageId }: CapturedEvent, model: string): void {
    if (messageId === undefined) return;
    for (const call of this.#open) {
      if (call.messageId !== messageId || call.model !== null) continue;
      for (const figure of call.status === 'error'
        ? (['toolCalls', 'failedToolCalls'] as const)
        : (['toolCalls'] as const)) {
        const unnamed = this.#rows.get(keyOf(call));
        if (unnamed !== undefined) this.#set(unnamed, figure, (unnamed[figure] ?? 1) - 1);
        this.#add({ start: call.start, model }, figure, 1);
      }
      call.model = model;
    }
    this.#open = this.#open.filter((call) => call.status === undefined || call.model === null);
  }

  #add(at: Place, figure: Figure, value: number): void {
    const row = this.#row(at);
    row[figure] = plus(figure, row[figure] ?? 0, value);
  }

  #row(at: Place): UsagePeriod {
    const key = keyOf(at);
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = { start: at.start, model: at.model };
      this.#rows.set(key, row);
    }
    return row;
  }

  /** Removes a row without figures. */
  #set(row: UsagePeriod, figure: Figure, value: number): void {
    if (value === 0) delete row[figure];
    else row[figure] = value;
    if (Object.keys(row).length > 2) return;
    this.#rows.delete(keyOf(row));
    if (this.#latest?.row === row) this.#latest = null;
  }
}

function rowsOf(periods: UsagePeriods): UsagePeriod[] {
  const known = figures.filter((figure) => periods[figure] !== undefined);
  return periods.start.map((start, at) => {
    const row: UsagePeriod = { start, model: periods.model[at] ?? null };
    for (const figure of known) {
      const value = periods[figure]?.[at] ?? null;
      if (value !== null) row[figure] = value;
    }
    return row;
  });
}

/** A model with the special terms of a call. */
function namedAs(model: string, terms: CallTerms): string {
  return modelInWords({ model, ...specialTerms(terms) });
}

/** The model of `models` of an envelope that a period is of: statements have no terms. */
function groupOf(name: string, models: ReadonlyMap<string | null, unknown>): string {
  if (models.has(name)) return name;
  const end = name.endsWith(')') ? name.lastIndexOf(' (') : -1;
  const model = name.slice(0, Math.max(0, end));
  return end > 0 && models.has(model) ? model : name;
}

function isInQuarter(timestamp: string, { hour, quarter }: LatestRow): boolean {
  return quarterIn(timestamp) === quarter && timestamp.startsWith(hour);
}

/** Without a text of its own, which would cost more than all else. */
function quarterIn(timestamp: string): number {
  const minute = (timestamp.charCodeAt(14) - zero) * 10 + timestamp.charCodeAt(15) - zero;
  return Math.floor(minute / 15);
}

const zero = '0'.charCodeAt(0);

/** The beginning of the quarter of an hour of a time. */
export function quarterOf(timestamp: string): string {
  const minute = Number(timestamp.slice(14, 16));
  return `${timestamp.slice(0, 14)}${String(minute - (minute % 15)).padStart(2, '0')}:00.000Z`;
}

function keyOf({ start, model }: Place): string {
  return model === null ? start : `${start} ${model}`;
}

/** The calls of each agent stay in their order, because the first one goes when there are too many. */
function byAgent({ agentId: one = '' }: OpenToolCall, { agentId: other = '' }: OpenToolCall): number {
  return compare(one, other);
}

function isAmount(figure: Figure): figure is Amount {
  return figure === 'costUsd' || figure === 'estimatedUsd';
}

function plus(figure: Figure, one: number, other: number): number {
  return isAmount(figure) ? addAmounts(one, other) : addCounts(one, other);
}

function unnamedThenLatest(one: UsagePeriod, other: UsagePeriod): number {
  if ((one.model === null) !== (other.model === null)) return one.model === null ? -1 : 1;
  return one.start < other.start ? 1 : -1;
}

/** The rows of `models` of an envelope, of which several can be of one model. */
function totalsByModel(models: readonly ModelUsage[]): Map<string | null, Totals> {
  const totals = new Map<string | null, Totals>();
  for (const used of models) {
    const total = totals.get(used.model) ?? {};
    totals.set(used.model, total);
    for (const figure of settled) {
      const value = figure === 'modelCalls' ? used.calls : used[figure];
      if (value !== undefined) total[figure] = plus(figure, total[figure] ?? 0, value);
    }
  }
  return totals;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
