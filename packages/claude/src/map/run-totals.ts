import type { JsonObject, JsonValue, StatedModelUsage, Usage } from '@hansard/events';
import { addAmounts, addCounts } from '@hansard/facts';
import { asAmount, asCount, asObject } from '../lines/json-fields.ts';
import { usageOf } from './usage.ts';

/** The counters of a ledger, each with its name in the usage that a result gives by model. */
const stated = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
  cacheWrite5m: 'cacheCreationEphemeral5mInputTokens',
  cacheWrite1h: 'cacheCreationEphemeral1hInputTokens',
  reasoning: 'thinkingTokens',
  webSearches: 'webSearchRequests',
  webFetches: 'webFetchRequests',
} as const;

/** The same counters in a usage of ours. */
const used = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadTokens',
  cacheWrite: 'cacheWriteTokens',
  cacheWrite5m: 'cacheWrite5mTokens',
  cacheWrite1h: 'cacheWrite1hTokens',
  reasoning: 'reasoningTokens',
  webSearches: 'webSearchRequests',
  webFetches: 'webFetchRequests',
} as const satisfies Record<keyof typeof stated, keyof Usage>;

type Counter = keyof typeof stated;

const counts = Object.keys(stated) as Counter[];
const counters = ['costUsd', ...counts] as const;

type Counters = Record<(typeof counters)[number], number>;

/** The spending of a process: its stated cost, and the figures of each model. */
interface Ledger {
  readonly costUsd: number;
  readonly models: ReadonlyMap<string, Counters>;
}

const none = Object.fromEntries(counters.map((counter) => [counter, 0])) as Counters;
const empty: Ledger = { costUsd: 0, models: new Map() };
/** The name of usage that the source does not give by model. */
const unnamed = '';

export interface Totals {
  readonly costUsd: number | undefined;
  readonly usage: Usage | undefined;
  /** Undefined: the source does not give all of its usage by model. */
  readonly models: StatedModelUsage[] | undefined;
  readonly durationMs: number | undefined;
  readonly turns: number | undefined;
}

/**
 * Adds up the results of a stream. Cost and model usage are cumulative within a process, so the last figures are the
 * total. If they fall, another process continued and counts from zero. A process that resumes a session starts with the
 * earlier spending, which is not part of this stream. Duration and turns are per result.
 */
export class RunTotals {
  #before: Ledger = empty;
  #ended: Ledger = empty;
  #running: Ledger = empty;
  #hasBegun = false;
  #hasCost = false;
  #hasUsage = false;
  /** The counters that the results give. The others are not known. */
  readonly #given = new Set<Counter>(['input', 'output', 'cacheRead', 'cacheWrite']);
  /** The models for which a result has no cost. */
  readonly #withoutCost = new Set<string>();
  #durationMs: number | undefined;
  #turns: number | undefined;

  add(result: JsonObject): Totals {
    const cost = asAmount(result.total_cost_usd);
    this.#note(result);
    const models =
      modelsOf(asObject(result.modelUsage)) ?? this.#afterThisTurn(usageOf(asObject(result.usage)));
    const figures = { models: models ?? this.#running.models, costUsd: cost ?? this.#running.costUsd };
    if (!this.#hasBegun) this.#before = spentBefore(result, figures);
    this.#hasBegun = true;
    if (hasFallen(figures, this.#running)) this.#ended = joined(this.#ended, this.#running, plus);
    this.#running = figures;
    this.#hasCost ||= cost !== undefined;
    this.#hasUsage ||= models !== undefined;
    for (const model of modelsWithoutCost(asObject(result.modelUsage))) this.#withoutCost.add(model);
    this.#durationMs = added(this.#durationMs, asAmount(result.duration_ms), addAmounts);
    this.#turns = added(this.#turns, asCount(result.num_turns), addCounts);
    const total = joined(joined(this.#ended, this.#running, plus), this.#before, minus);
    return {
      costUsd: this.#hasCost ? total.costUsd : undefined,
      usage: this.#hasUsage ? toUsage(sumOf(total.models), this.#given) : undefined,
      models: statedOf(total.models, this.#withoutCost, this.#given),
      durationMs: this.#durationMs,
      turns: this.#turns,
    };
  }

  /** Notes which counters the result gives. */
  #note(result: JsonObject): void {
    const usages = Object.values(asObject(result.modelUsage) ?? {});
    const turn = usages.length === 0 ? usageOf(asObject(result.usage)) : undefined;
    for (const counter of counts) {
      const isGiven = usages.some((usage) => asCount(asObject(usage)?.[stated[counter]]) !== undefined);
      if (isGiven || turn?.[used[counter]] !== undefined) this.#given.add(counter);
    }
  }

  #afterThisTurn(usage: Usage | undefined): Ledger['models'] | undefined {
    if (usage === undefined) return undefined;
    const turn = { ...none };
    for (const counter of counts) turn[counter] = usage[used[counter]] ?? 0;
    return joined(this.#running, { costUsd: 0, models: new Map([[unnamed, turn]]) }, plus).models;
  }
}

/** The part of the first result's figures that was spent before this stream. */
function spentBefore(result: JsonObject, figures: Ledger): Ledger {
  const since = asObject(result.model_usage_since_last_result);
  if (since === undefined || modelsOf(asObject(result.modelUsage)) === undefined) return empty;
  const models = modelsOf(since) ?? empty.models;
  return joined(figures, { costUsd: sumOf(models).costUsd, models }, minus);
}

function hasFallen(figures: Ledger, before: Ledger): boolean {
  if (figures.costUsd < before.costUsd) return true;
  const now = sumOf(figures.models);
  const earlier = sumOf(before.models);
  return counters.some((counter) => counter !== 'costUsd' && now[counter] < earlier[counter]);
}

function modelsOf(usages: JsonObject | undefined): Ledger['models'] | undefined {
  const models = new Map<string, Counters>();
  for (const [name, value] of Object.entries(usages ?? {})) {
    const usage = asObject(value) ?? {};
    const figures = { ...none, costUsd: asAmount(usage.costUSD) ?? 0 };
    for (const counter of counts) figures[counter] = asCount(usage[stated[counter]]) ?? 0;
    const model = withoutVariant(name);
    models.set(model, combined(models.get(model) ?? none, figures, plus));
  }
  return models.size === 0 ? undefined : models;
}

/** Why some figures that a result gives by model cannot be read. */
export function statementProblems(modelUsage: JsonValue | undefined): string[] {
  return Object.entries(asObject(modelUsage) ?? {}).flatMap(([model, value]) => {
    const usage = asObject(value) ?? {};
    const wrong = Object.values(stated).filter((name) => {
      const field = usage[name] ?? undefined;
      return field !== undefined && asCount(field) === undefined;
    });
    if (wrong.length === 0) return [];
    return [
      `The usage of ${model} in a result does not count: ${wrong.join(', ')} must be whole numbers from 0.`,
    ];
  });
}

/** Messages have the model without the mark for its context window, such as `[1m]`. */
function withoutVariant(model: string): string {
  return model.replace(/\[[^\]]*\]$/, '');
}

function modelsWithoutCost(usages: JsonObject | undefined): string[] {
  return Object.entries(usages ?? {}).flatMap(([name, usage]) =>
    asAmount(asObject(usage)?.costUSD) === undefined ? [withoutVariant(name)] : [],
  );
}

function statedOf(
  models: Ledger['models'],
  withoutCost: ReadonlySet<string>,
  given: ReadonlySet<Counter>,
): StatedModelUsage[] | undefined {
  const spent = [...models].filter(([, figures]) => counters.some((counter) => figures[counter] > 0));
  if (spent.length === 0 || spent.some(([model]) => model === unnamed)) return undefined;
  return spent.map(([model, figures]) => ({
    model,
    ...toUsage(figures, given),
    ...(withoutCost.has(model) ? {} : { costUsd: figures.costUsd }),
  }));
}

function toUsage(figures: Counters, given: ReadonlySet<Counter>): StatedUsage {
  const usage: StatedUsage = { inputTokens: 0, outputTokens: 0 };
  for (const counter of given) usage[used[counter]] = figures[counter];
  return usage;
}

type StatedUsage = Pick<Usage, (typeof used)[Counter]>;

type Combine = (one: number, other: number, counter: keyof Counters) => number;

const plus: Combine = (one, other, counter) => (counter === 'costUsd' ? addAmounts : addCounts)(one, other);
const minus: Combine = (one, other) => Math.max(0, one - other);

function combined(one: Counters, other: Counters, combine: Combine): Counters {
  const result = { ...none };
  for (const counter of counters) result[counter] = combine(one[counter], other[counter], counter);
  return result;
}

function joined(one: Ledger, other: Ledger, combine: Combine): Ledger {
  const models = new Map<string, Counters>();
  for (const model of [...one.models.keys(), ...other.models.keys()])
    models.set(model, combined(one.models.get(model) ?? none, other.models.get(model) ?? none, combine));
  return { costUsd: combine(one.costUsd, other.costUsd, 'costUsd'), models };
}

function sumOf(models: Ledger['models']): Counters {
  return [...models.values()].reduce((one, other) => combined(one, other, plus), none);
}

function added(
  total: number | undefined,
  more: number | undefined,
  add: (one: number, other: number) => number,
): number | undefined {
  return more === undefined ? total : add(total ?? 0, more);
}
