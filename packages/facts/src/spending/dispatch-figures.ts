import type { DispatchEnvelope } from '@hansard/events';
import { withOpenCalls } from '../totals/with-open-calls.ts';
import { formatTokens } from './format.ts';
import { addFigure, addSpending, type Spending, spendingOf } from './spending.ts';

/** The figures of a dispatch, or the sums over several, of the figures that are known. Null: not known (yet). */
export interface DispatchFigures extends Spending {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly turns: number | null;
  /** The agent's own time in milliseconds. The sum over several includes dispatches that ran at the same time. */
  readonly durationMs: number | null;
}

export function figuresOf(recorded: DispatchEnvelope): DispatchFigures {
  const envelope = withOpenCalls(recorded);
  const { usage } = envelope;
  return {
    ...spendingOf(envelope),
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    turns: usage?.turns ?? null,
    durationMs: dispatchDuration(envelope),
  };
}

export function addFigures(one: DispatchFigures, other: DispatchFigures): DispatchFigures {
  return {
    ...addSpending(one, other),
    inputTokens: addFigure(one.inputTokens, other.inputTokens),
    outputTokens: addFigure(one.outputTokens, other.outputTokens),
    turns: addFigure(one.turns, other.turns),
    durationMs: addFigure(one.durationMs, other.durationMs),
  };
}

/** The duration of a dispatch in milliseconds: as it reports, otherwise from its start to its end; null while it runs, or if
 * one of the two is not recorded. */
export function dispatchDuration({ usage, startedAt, completedAt }: DispatchEnvelope): number | null {
  if (usage?.durationMs !== undefined) return usage.durationMs;
  return completedAt === null || startedAt === null
    ? null
    : Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
}

/** All tokens of a dispatch, cached ones too, and how many of them are copied from another one. Null: not known. */
export function tokensInWords(envelope: DispatchEnvelope): string | null {
  const { usage, source } = envelope;
  if (usage === null) return null;
  const copies = source?.copies?.figures;
  const copied = copies === undefined ? 0 : allOf(usage) - allOf(copies.usage);
  const words = formatTokens(allOf(usage));
  return copied <= 0 ? words : `${words} (${formatTokens(copied)} copied)`;
}

function allOf(usage: DispatchEnvelope['usage']): number {
  if (usage === null) return 0;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
