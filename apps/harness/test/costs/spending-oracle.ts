import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, ModelUsage, Usage } from '@hansard/events';

/** Input, output, cache reads and cache writes. */
type Tokens = readonly [number, number, number, number];

/** What a log says was spent. Null: it does not say. Shares no code with the views. */
export interface Spent {
  readonly cost: number | null;
  readonly tokens: Tokens | null;
  /** By model: the number of calls, tokens, cost. */
  readonly models: Readonly<Record<string, readonly [number, Tokens, number | null]>>;
}

/** Wrong ways to add up a log. A generated log is of use if it shows each of them to be wrong. */
export const faults = [
  'adds the calls before a total to it',
  'forgets the calls after a total',
  'counts a call twice that was under way at a total',
  'leaves out the calls of other agents',
  'leaves out the cache',
  'takes the first total',
  'reads only totals',
  'reads only calls',
] as const;

export type Fault = (typeof faults)[number];

interface StatedModel extends Usage {
  readonly model: string;
  readonly costUsd?: number;
}

/** The events of a log, added up by the rules of `docs/contract.md`, or with a fault. */
export function spentIn(events: readonly CapturedEvent[], fault?: Fault): Spent {
  const calls = events
    .map((event, at) => ({ event, at }))
    .filter(({ event }) => event.type === 'agent:inference')
    .filter(({ event }) => fault !== 'leaves out the calls of other agents' || event.agentId === undefined);
  const isTotal = (figure: string) => (event: CapturedEvent) =>
    fault !== 'reads only calls' && event.type === 'session:complete' && event.data[figure] !== undefined;
  const totalOf = (figure: string) =>
    fault === 'takes the first total'
      ? events.findIndex(isTotal(figure))
      : events.findLastIndex(isTotal(figure));
  const beganBefore = (messageId: string | undefined, at: number) =>
    messageId !== undefined &&
    events.slice(0, Math.max(0, at)).some((event) => event.messageId === messageId);
  const after = (total: number) =>
    calls
      .filter(({ at }) => at > total || fault === 'adds the calls before a total to it')
      .filter(() => fault !== 'reads only totals')
      .filter(() => total < 0 || fault !== 'forgets the calls after a total')
      .filter(
        ({ event, at }) =>
          at < total ||
          fault === 'counts a call twice that was under way at a total' ||
          !beganBefore(event.messageId, total),
      )
      .map(({ event }) => event);
  const tokens = (usage: Usage) => tokensOf(usage, fault !== 'leaves out the cache');
  const figure = <T>(name: string): T[] => {
    const total = totalOf(name);
    return [...(total < 0 ? [] : [events[total] as CapturedEvent]), ...after(total)]
      .map(({ data }) => data[name] as T | undefined)
      .filter((value) => value !== undefined);
  };
  const models: Record<string, readonly [number, Tokens, number | null]> = {};
  const add = (model: string, count: number, more: Tokens, cost: number | undefined) => {
    const [calls, before, spent] = models[model] ?? [0, [0, 0, 0, 0], null];
    models[model] = [calls + count, sum(before, more), cost === undefined ? spent : (spent ?? 0) + cost];
  };
  const statement = totalOf('models');
  for (const stated of (events[statement]?.data.models ?? []) as unknown as StatedModel[])
    add(stated.model, 0, tokens(stated), stated.costUsd);
  for (const { event } of calls) add(String(event.data.model), 1, [0, 0, 0, 0], undefined);
  for (const { data } of after(statement))
    add(String(data.model), 0, tokens(data.usage as Usage), data.costUsd as number | undefined);
  const usages = figure<Usage>('usage').map(tokens);
  return {
    cost: addAll(figure<number>('costUsd')),
    tokens: usages.length === 0 ? null : usages.reduce(sum),
    models,
  };
}

/** What an envelope says was spent. */
export function spentBy({ cost, usage, models }: DispatchEnvelope): Spent {
  const byModel = (models ?? []).map(
    (one: ModelUsage) => [one.model, [one.calls, tokensOf(one), one.costUsd ?? null]] as const,
  );
  return { cost, tokens: usage === null ? null : tokensOf(usage), models: Object.fromEntries(byModel) };
}

/** The sum over the calls of a log, each once, whatever totals it states. */
export function spentOnCalls(events: readonly CapturedEvent[]): Pick<Spent, 'cost' | 'tokens'> {
  const calls = events.filter(({ type }) => type === 'agent:inference');
  const { cost, tokens } = spentIn(calls);
  return { cost, tokens };
}

/** The dispatches of a task with their events. */
export async function logsOf(store: DispatchStore, taskDir: string) {
  const envelopes = await store.getDispatchEnvelopes(taskDir);
  return Promise.all(
    envelopes.map(async (envelope) => ({
      envelope,
      events: await store.getDispatchEvents(taskDir, envelope.dispatchId),
    })),
  );
}

export function addAll(amounts: readonly (number | null | undefined)[]): number | null {
  const known = amounts.filter((amount) => amount !== null && amount !== undefined);
  return known.length === 0 ? null : known.reduce((one, other) => one + other, 0);
}

function tokensOf(usage: Usage, withCache = true): Tokens {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return withCache
    ? [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens]
    : [inputTokens, outputTokens, 0, 0];
}

function sum(one: Tokens, other: Tokens): Tokens {
  return [one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]];
}
