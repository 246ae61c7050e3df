import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import { eventWords } from '../words/row-words.ts';
import type { Words } from '../words/words.ts';
import { inOrderOfTime, later } from './in-order-of-time.ts';

/** The events of a dispatch, read as they are needed. */
export interface TimelineSource {
  readonly envelope: DispatchEnvelope;
  /** All its events in pages. Called once, when the timeline reaches the start of the dispatch. */
  pages(): AsyncIterable<Iterable<CapturedEvent>> | Iterable<Iterable<CapturedEvent>>;
  /** Whether an event is in the timeline. Absent: every event is. */
  passes?(event: CapturedEvent): boolean;
}

/** One event of a timeline. */
export interface TimelineRow {
  readonly dispatchId: string;
  /** The role of the dispatch. */
  readonly role: string;
  readonly position: number;
  readonly event: CapturedEvent;
  /** The event in words, with the agent's name if it is known. */
  readonly words: Words;
}

/** The events of several dispatches {@link inOrderOfTime}. Holds one page of each dispatch that is open at that time. */
export function taskTimeline(sources: readonly TimelineSource[]): AsyncGenerator<TimelineRow> {
  return inOrderOfTime(sources.map((source) => ({ envelope: source.envelope, items: () => rowsOf(source) })));
}

async function* rowsOf({
  envelope: { dispatchId, role },
  pages,
  passes = () => true,
}: TimelineSource): AsyncGenerator<{ readonly time: string; readonly item: TimelineRow }, undefined> {
  const names = new AgentNames();
  let [time, position] = ['', -1];
  for await (const page of pages())
    for (const event of page) {
      position += 1;
      // Also of an event that does not pass.
      time = later(time, event.timestamp);
      if (passes(event))
        yield { time, item: { dispatchId, role, position, event, words: eventWords(event, names) } };
      else names.learn(event);
    }
}
