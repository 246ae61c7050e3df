import type { JsonObject, Usage } from '@hansard/events';
import { asAmount, asCount, asObject } from '../values/json-fields.ts';
import { usageOf } from './inferences.ts';

const counters = ['costUsd', 'input', 'output', 'cacheRead', 'cacheWrite'] as const;

type Counters = Record<(typeof counters)[number], number>;

type TokenCounters = Omit<Counters, 'costUsd'>;

const none: Counters = { costUsd: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export interface Totals {
  readonly costUsd: number | undefined;
  readonly usage: Usage | undefined;
  readonly durationMs: number | undefined;
  readonly turns: number | undefined;
}

/**
 * Adds up the results of a stream. Cost and model usage are cumulative within a process, so the last figures are the
 * total. If they fall, another process continued and counts from zero. A process that resumes a session starts with the
 * earlier spending, which is not part of this stream. Duration and turns are per result.
 */
export class RunTotals {
  #ended = none;
  #running = none;
  #hasBegun = false;
  #hasCost = false;
  #hasUsage = false;
  #durationMs: number | undefined;
  #turns: number | undefined;

  add(result: JsonObject): Totals {
    const cost = asAmount(result.total_cost_usd);
    const usage =
      modelUsageOf(asObject(result.modelUsage)) ?? this.#afterThisTurn(usageOf(asObject(result.usage)));
    const figures: Counters = { ...this.#running, ...usage, costUsd: cost ?? this.#running.costUsd };
    if (!this.#hasBegun) this.#ended = negated(spentBefore(result, figures));
    this.#hasBegun = true;
    if (counters.some((counter) => figures[counter] < this.#running[counter])) {
      this.#ended = sum(this.#ended, this.#running);
    }
    this.#running = figures;
    this.#hasCost ||= cost !== undefined;
    this.#hasUsage ||= usage !== undefined;
    this.#durationMs = added(this.#durationMs, asAmount(result.duration_ms));
    this.#turns = added(this.#turns, asCount(result.num_turns));
    const total = sum(this.#ended, this.#running);
    return {
      costUsd: this.#hasCost ? total.costUsd : undefined,
      usage: this.#hasUsage ? toUsage(total) : undefined,
      durationMs: this.#durationMs,
      turns: this.#turns,
    };
  }

  #afterThisTurn(usage: Usage | undefined): TokenCounters | undefined {
    if (usage === undefined) return undefined;
    const { input, output, cacheRead, cacheWrite } = this.#running;
    return {
      input: input + usage.inputTokens,
      output: output + usage.outputTokens,
      cacheRead: cacheRead + (usage.cacheReadTokens ?? 0),
      cacheWrite: cacheWrite + (usage.cacheWriteTokens ?? 0),
    };
  }
}

/** The part of the first result's figures that was spent before this stream. */
function spentBefore(result: JsonObject, figures: Counters): Counters {
  const since = asObject(result.model_usage_since_last_result);
  const tokens = modelUsageOf(since);
  if (since === undefined || tokens === undefined) return none;
  const costs = Object.values(since).map((usage) => asAmount(asObject(usage)?.costUSD) ?? 0);
  const costUsd = costs.reduce((total, cost) => total + cost, 0);
  const before = { ...none };
  const now = { ...tokens, costUsd };
  for (const counter of counters) before[counter] = Math.max(0, figures[counter] - now[counter]);
  return before;
}

function negated(figures: Counters): Counters {
  const opposite = { ...none };
  for (const counter of counters) opposite[counter] = 0 - figures[counter];
  return opposite;
}

function modelUsageOf(usages: JsonObject | undefined): TokenCounters | undefined {
  const models = Object.values(usages ?? {}).map((usage) => asObject(usage) ?? {});
  if (models.length === 0) return undefined;
  const total = (key: string) => models.reduce((soFar, usage) => soFar + (asCount(usage[key]) ?? 0), 0);
  return {
    input: total('inputTokens'),
    output: total('outputTokens'),
    cacheRead: total('cacheReadInputTokens'),
    cacheWrite: total('cacheCreationInputTokens'),
  };
}

function toUsage({ input, output, cacheRead, cacheWrite }: Counters): Usage {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
  };
}

function sum(left: Counters, right: Counters): Counters {
  const total = { ...none };
  for (const counter of counters) total[counter] = left[counter] + right[counter];
  return total;
}

function added(total: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? total : (total ?? 0) + more;
}
