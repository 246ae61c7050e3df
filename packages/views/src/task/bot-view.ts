import type { DispatchEnvelope } from '@hansard/events';
import { addFigures, type DispatchFigures, figuresOf, nothingSpent } from '@hansard/facts';

const nothing: DispatchFigures = {
  ...nothingSpent,
  inputTokens: null,
  outputTokens: null,
  turns: null,
  durationMs: null,
};

/** The dispatches of one bot among these dispatches of a task. */
export function botView(
  dispatches: readonly DispatchEnvelope[],
  botId: string,
): {
  readonly botId: string;
  /** Its dispatches, in the order of the argument. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** The sums over its dispatches. */
  readonly figures: DispatchFigures;
} {
  const envelopes = dispatches.filter((envelope) => envelope.botId === botId);
  return { botId, envelopes, figures: envelopes.map(figuresOf).reduce(addFigures, nothing) };
}
