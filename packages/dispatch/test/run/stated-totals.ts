import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';

interface Stated {
  readonly cost: number | null;
  readonly tokens: readonly [input: number, output: number] | null;
}

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a log states of cost and tokens: its last totals, and each call that came after them. Shares no code with views. */
export function statedIn(events: readonly CapturedEvent[]): Stated {
  const costs = statedOf(events, 'costUsd') as number[];
  const usages = statedOf(events, 'usage') as Tokens[];
  return {
    cost: costs.length === 0 ? null : add(costs),
    tokens:
      usages.length === 0
        ? null
        : [
            add(usages.map(({ inputTokens }) => inputTokens)),
            add(usages.map(({ outputTokens }) => outputTokens)),
          ],
  };
}

export function statedBy({ cost, usage }: Pick<DispatchEnvelope, 'cost' | 'usage'>): Stated {
  return { cost, tokens: usage === null ? null : [usage.inputTokens, usage.outputTokens] };
}

function statedOf(events: readonly CapturedEvent[], figure: 'costUsd' | 'usage'): unknown[] {
  const stating = events.filter(({ data }) => data[figure] !== undefined);
  const lastTotal = stating.findLastIndex(({ type }) => type === 'session:complete');
  return stating.slice(Math.max(0, lastTotal)).map(({ data }) => data[figure]);
}

function add(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
