import type { PositionedEvent } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import type { EventFilter } from '@hansard/views';
import { type CliContext, letInterrupt } from '../terminal/context.ts';
import { type EventSource, positioned } from './answer-events.ts';

interface SelectedSource extends EventSource {
  readonly filter: EventFilter;
  /** Receives every event that is read. */
  onRead?(event: CapturedEvent): void;
}

/** The events of a dispatch that pass a filter, page by page, so that a dispatch of any length can be read. */
export async function* selectedEvents(
  context: CliContext,
  { log, names, filter, onRead }: SelectedSource,
): AsyncGenerator<PositionedEvent> {
  for await (const page of log.pages()) {
    await letInterrupt(context);
    for (const item of positioned(page)) {
      names.learn(item.event);
      onRead?.(item.event);
      if (filter.passes(item.event)) yield item;
    }
  }
}

interface LastEvents {
  readonly events: readonly PositionedEvent[];
  /** The position of the last event that was read; -1 without events. */
  readonly end: number;
}

/** The last events that pass a filter. Without criteria, only these are read. */
export async function lastSelected(
  context: CliContext,
  source: SelectedSource,
  count: number,
): Promise<LastEvents> {
  if (source.filter.isOpen) {
    const page = await source.log.last(count);
    return { events: positioned(page), end: page.first + page.events.length - 1 };
  }
  const events: PositionedEvent[] = [];
  let end = -1;
  const onRead = (event: CapturedEvent) => {
    end += 1;
    source.onRead?.(event);
  };
  for await (const item of selectedEvents(context, { ...source, onRead })) {
    events.push(item);
    if (events.length > count) events.shift();
  }
  return { events, end };
}
