import type { DispatchEnvelope } from '@hansard/events';

/** What a dispatch took; null: not known (yet). */
export interface DispatchFigures {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly turns: number | null;
  /** The agent's own time; that of a subtree adds up, also where dispatches ran side by side. */
  readonly durationMs: number | null;
}

export function figuresOf(envelope: DispatchEnvelope): DispatchFigures {
  const { cost, usage } = envelope;
  return {
    costUsd: cost,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    turns: usage?.turns ?? null,
    durationMs: dispatchDuration(envelope),
  };
}

export function addFigures(one: DispatchFigures, other: DispatchFigures): DispatchFigures {
  return {
    costUsd: add(one.costUsd, other.costUsd),
    inputTokens: add(one.inputTokens, other.inputTokens),
    outputTokens: add(one.outputTokens, other.outputTokens),
    turns: add(one.turns, other.turns),
    durationMs: add(one.durationMs, other.durationMs),
  };
}

/** Milliseconds that a dispatch took: as it reports, else from its start to its end; null while it runs. */
export function dispatchDuration({ usage, startedAt, completedAt }: DispatchEnvelope): number | null {
  if (usage?.durationMs !== undefined) return usage.durationMs;
  return completedAt === null ? null : Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
}

function add(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0);
}
