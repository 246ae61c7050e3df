import type {
  CapturedEvent,
  DispatchEnvelope,
  EventData,
  EventOf,
  ModelUsage,
  OpenToolCall,
  Usage,
  UsagePeriods,
} from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { type CallTerms, isUsual, modelInWords, specialTerms } from './call-terms.ts';
import { failedModelCall } from './failed-model-call.ts';
import { addAmounts, addCounts, addToSum, optionalCounts, type Tokens } from './tokens-of.ts';

export const quarterMs = 15 * 60_000;

/** The figures that periods must sum up to. */
export type PeriodTotals = Pick<DispatchEnvelope, 'usage' | 'cost' | 'models'>;

type ModelCall = EventData<'agent:inference'>;

const tokenFigures = ['inputTokens', 'outputTokens', ...optionalCounts] as const;
const amounts = ['costUsd', 'estimatedUsd'] as const;
/** The figures of a period, except amounts of money. */
export const periodCounts = [
  ...(['modelCalls', 'failedModelCalls', 'toolCalls', 'failedToolCalls'] as const),
  ...tokenFigures,
] as const;
const figures = [...periodCounts, ...amounts] as const;

type Amount = (typeof amounts)[number];
type Figure = (typeof figures)[number];
type ToolFigure = 'toolCalls' | 'failedToolCalls';
type Totals = { [Name in Figure]?: number };

/** What was used of one model in a quarter of an hour. Absent: 0, or nothing recorded states it. */
export type UsagePeriod = Place & Totals;

/** A period in which a model was called. */
export type ModelPeriod = UsagePeriod & Tokens;

interface Place {
  /** Null: the time is not recorded. */
  readonly start: string | null;
  /** Null: not known. */
  readonly model: string | null;
}

/** A quarter of an hour, or what stands for it where no time is recorded. */
export interface Quarter {
  /** Null: no time is recorded. */
  readonly start: string | null;
  /** Its last millisecond. */
  readonly end: string;
}

const notRecorded: Quarter = { start: null, end: '' };

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
 *    `agent:inference` of the message the model is null. A call that still waits for its model is in no row of the fold; `rows` adds it.
 * 3. A failed call of a model counts at the time of its report. No log names its model, so that is null.
 * 4. What has no recorded time is in periods of its own, whose `start` is null. They precede all others.
 * 5. `settle` holds the law: the periods sum up to the totals of the envelope. What a statement has more than the counted calls is
 *    in the quarter of the statement, under the stated model or null. What it has less is taken from the latest quarters.
 */
export class PeriodFold {
  readonly #rows = new Map<string, UsagePeriod>();
  readonly #open: OpenToolCall[];
  /** The quarter of the last event that was counted. */
  #quarter: Quarter | null = null;
  /** The row of the last call of a model. */
  #latest: UsagePeriod | null = null;

  /** `before`: the periods of events before these. */
  constructor(before: UsagePeriods | null = null) {
    if (before !== null) for (const row of rowsOf(before)) this.#rows.set(keyOf(row), row);
    this.#open = (before?.open ?? []).map((call) => ({ ...call }));
    for (const call of this.#open)
      if (isWaiting(call)) countTool(call, (figure) => this.#takeOne(call, figure));
  }

  /** By time and model: files of agents that are read in another order give the same rows. */
  get rows(): readonly Readonly<UsagePeriod>[] {
    return this.#withWaiting().sort(
      (one, other) =>
        compare(one.start ?? '', other.start ?? '') || compare(one.model ?? '', other.model ?? ''),
    );
  }

  /**
   * As an envelope has them. Null: no event was counted. The order depends only on the order of the events of each agent: several
   * files of one log can be read in any order.
   */
  get periods(): UsagePeriods | null {
    const { rows } = this;
    if (rows.length === 0) return null;
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

  /** Counts a call of a tool, or its result. `isChecked`: the data has the shape of its type. */
  addTool(event: CapturedEvent, isChecked = false): void {
    if (isReadableAs(event, 'agent:tool_call', isChecked)) this.#call(event, event.data);
    else if (isReadableAs(event, 'agent:tool_result', isChecked)) this.#result(event.timestamp, event.data);
  }

  /** Counts a call of a model that failed, if the event reports one. */
  addIfFailure(event: CapturedEvent): void {
    if (failedModelCall(event))
      this.#add({ start: this.quarterAt(event.timestamp).start, model: null }, 'failedModelCalls', 1);
  }

  /** Gives the calls of tools of a message their model. */
  nameTools({ messageId, data: { model, usage } }: EventOf<'agent:inference'>): void {
    if (this.#open.length > 0 && messageId !== undefined)
      this.#name(messageId, isUsual(usage) ? model : namedAs(model, usage));
  }

  /** Counts a call of a model, and returns its row. */
  count(
    { model, usage, costUsd }: ModelCall,
    timestamp: string | null,
    estimatedUsd: number | null,
    calls = 1,
  ): ModelPeriod {
    const row = this.#rowOf(model, usage, timestamp) as ModelPeriod;
    row.modelCalls = (row.modelCalls ?? 0) + calls;
    row.inputTokens ??= 0;
    row.outputTokens ??= 0;
    addToSum(row, usage);
    if (costUsd !== undefined) row.costUsd = addAmounts(row.costUsd ?? 0, costUsd);
    if (estimatedUsd !== null) row.estimatedUsd = addAmounts(row.estimatedUsd ?? 0, estimatedUsd);
    return row;
  }

  /** Counts a call whose usage is in a statement. */
  countStated({ model, usage }: ModelCall, timestamp: string | null): void {
    const row = this.#rowOf(model, usage, timestamp);
    row.modelCalls = (row.modelCalls ?? 0) + 1;
  }

  /** Mostly the row of the call before: an append costs almost nothing then. */
  #rowOf(model: string, usage: Usage, timestamp: string | null): UsagePeriod {
    return this.#namedRow(this.quarterAt(timestamp).start, isUsual(usage) ? model : namedAs(model, usage));
  }

  #namedRow(start: string | null, model: string): UsagePeriod {
    const latest = this.#latest;
    if (latest !== null && latest.start === start && latest.model === model) return latest;
    const row = this.#row({ start, model });
    this.#latest = row;
    return row;
  }

  /** The quarter of a time. If it is that of the time before, it is the same object. */
  quarterAt(timestamp: string | null): Quarter {
    if (timestamp === null) return notRecorded;
    if (this.#quarter !== null && isInQuarter(timestamp, this.#quarter)) return this.#quarter;
    const hour = timestamp.slice(0, 'YYYY-MM-DDTHH:'.length);
    const minute = Number(timestamp.slice(14, 16));
    const first = minute - (minute % 15);
    // A joined text is compared much faster than one that was put together by a template.
    const start = [hour, String(first).padStart(2, '0'), ':00.000Z'].join('');
    this.#quarter = { start, end: [hour, String(first + 14).padStart(2, '0'), ':59.999Z'].join('') };
    return this.#quarter;
  }

  /** Makes the periods sum up to the totals, as a statement of this time gives them. */
  settle(timestamp: string | null, { usage, cost, models }: PeriodTotals): void {
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

  #settleModels(start: string | null, models: readonly ModelUsage[]): void {
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
  #state(start: string | null, used: ModelUsage): void {
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
    // The message before has no `agent:inference`, or it is counted.
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const before = this.#open[at] as OpenToolCall;
      if (before.status !== undefined && before.agentId === agentId && before.messageId !== messageId)
        this.#drop(at);
    }
    const call: OpenToolCall = { toolCallId, start: this.quarterAt(timestamp).start, model: null };
    if (messageId !== undefined) call.messageId = messageId;
    else this.#add(call, 'toolCalls', 1);
    if (agentId !== undefined) call.agentId = agentId;
    this.#open.push(call);
    if (this.#open.length > mostOpen) this.#dropFirstOf(agentId);
  }

  /** Drops the first open call of an agent that has too many. */
  #dropFirstOf(agentId: string | undefined): void {
    const ofAgent = this.#open.filter((call) => call.agentId === agentId);
    const [first] = ofAgent;
    if (first !== undefined && ofAgent.length > mostOpen) this.#drop(this.#open.indexOf(first));
  }

  /** Ends the wait of an open call: if it has no model by now, it never gets one. */
  #drop(at: number): void {
    const [call] = this.#open.splice(at, 1);
    if (call !== undefined && isWaiting(call)) countTool(call, (figure) => this.#add(call, figure, 1));
  }

  #result(timestamp: string | null, { toolCallId, status }: EventData<'agent:tool_result'>): void {
    const at = this.#open.findIndex((open) => open.toolCallId === toolCallId && open.status === undefined);
    const call = this.#open[at];
    if (call !== undefined && isWaiting(call)) {
      call.status = status;
      return;
    }
    if (status === 'error')
      this.#add(call ?? { start: this.quarterAt(timestamp).start, model: null }, 'failedToolCalls', 1);
    if (call !== undefined) this.#open.splice(at, 1);
  }

  #name(messageId: string, model: string): void {
    for (let at = this.#open.length - 1; at >= 0; at -= 1) {
      const call = this.#open[at] as OpenToolCall;
      if (call.messageId !== messageId || call.model !== null) continue;
      call.model = model;
      const row = this.#namedRow(call.start, model);
      row.toolCalls = addCounts(row.toolCalls ?? 0, 1);
      if (call.status === 'error') row.failedToolCalls = addCounts(row.failedToolCalls ?? 0, 1);
      if (call.status !== undefined) this.#open.splice(at, 1);
    }
  }

  /** The rows, with the calls of tools that wait for their model. */
  #withWaiting(): UsagePeriod[] {
    const rows = [...this.#rows.values()];
    if (!this.#open.some(isWaiting)) return rows;
    const unnamed = new Map<string | null, UsagePeriod>();
    for (const row of rows.splice(0))
      if (row.model === null) unnamed.set(row.start, { ...row });
      else rows.push(row);
    for (const call of this.#open) {
      if (!isWaiting(call)) continue;
      const row = unnamed.get(call.start) ?? { start: call.start, model: null };
      unnamed.set(call.start, row);
      countTool(call, (figure) => {
        row[figure] = addCounts(row[figure] ?? 0, 1);
      });
    }
    return [...rows, ...unnamed.values()];
  }

  /** Takes a call out of the row of its quarter. */
  #takeOne({ start }: OpenToolCall, figure: ToolFigure): void {
    const row = this.#rows.get(keyOf({ start, model: null }));
    if (row !== undefined) this.#set(row, figure, (row[figure] ?? 1) - 1);
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
    if (this.#latest === row) this.#latest = null;
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

/** Times of one form are in the order of their texts. */
function isInQuarter(timestamp: string, { start, end }: Quarter): boolean {
  return start !== null && timestamp >= start && timestamp <= end;
}

/** Whether a call of a tool waits for the model of its message. Without a message it never gets one. */
function isWaiting({ model, messageId }: OpenToolCall): boolean {
  return model === null && messageId !== undefined;
}

/** Calls `count` for each figure of a call of a tool. */
function countTool({ status }: OpenToolCall, count: (figure: ToolFigure) => void): void {
  count('toolCalls');
  if (status === 'error') count('failedToolCalls');
}

/** The beginning of the quarter of an hour of a time. Null: the time is not recorded. */
export function quarterOf(timestamp: string | null): string | null {
  if (timestamp === null) return null;
  const minute = Number(timestamp.slice(14, 16));
  return `${timestamp.slice(0, 14)}${String(minute - (minute % 15)).padStart(2, '0')}:00.000Z`;
}

function keyOf({ start, model }: Place): string {
  const time = start ?? '';
  return model === null ? time : `${time} ${model}`;
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
  return compare(other.start ?? '', one.start ?? '') || compare(one.model ?? '', other.model ?? '');
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
