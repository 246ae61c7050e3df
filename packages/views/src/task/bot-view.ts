import type { DispatchEnvelope } from '@hansard/events';
import { addFigures, type DispatchFigures, figuresOf } from './dispatch-figures.ts';
import { nothingSpent } from './spending.ts';
import { type TaskTimelineRow, type TimelineSource, taskTimeline } from './task-timeline.ts';

/** Everything that one bot did on a task, across its dispatches (D9). */
export interface BotView {
  readonly botId: string;
  /** Its dispatches, in the order in which they were given. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** Of all of them. Null: not known (yet). */
  readonly figures: DispatchFigures;
  /** By time, then dispatch, then position. */
  readonly rows: readonly TaskTimelineRow[];
}

const nothing: DispatchFigures = {
  ...nothingSpent,
  inputTokens: null,
  outputTokens: null,
  turns: null,
  durationMs: null,
};

/** Everything that one bot did in these dispatches of a task; those of others are passed over. */
export function botView(dispatches: readonly TimelineSource[], botId: string): BotView {
  const own = dispatches.filter(({ envelope }) => envelope.botId === botId);
  const envelopes = own.map(({ envelope }) => envelope);
  return {
    botId,
    envelopes,
    figures: envelopes.map(figuresOf).reduce(addFigures, nothing),
    rows: taskTimeline(own),
  };
}
