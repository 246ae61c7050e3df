import type { DispatchEnvelope } from '@hansard/events';
import { addFigures, type DispatchFigures, figuresOf } from './dispatch-figures.ts';
import { nothingSpent } from './spending.ts';
import { type TaskTimelineRow, type TimelineSource, taskTimeline } from './task-timeline.ts';

/** The dispatches and events of one bot on a task (D9). */
export interface BotView {
  readonly botId: string;
  /** Its dispatches, in the order of the argument. */
  readonly envelopes: readonly DispatchEnvelope[];
  /** The sums over its dispatches. */
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

/** The dispatches and events of one bot among these dispatches of a task. */
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
