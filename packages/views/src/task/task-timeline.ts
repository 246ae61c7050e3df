import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { dayHeading } from '@hansard/facts';
import { AgentNames } from '../agents/agent-names.ts';
import { type Ink, type RenderLineOptions, renderLine } from '../rows/render-line.ts';
import { eventWords } from '../words/row-words.ts';
import type { Words } from '../words/words.ts';
import { inOrderOfTime, later } from './in-order-of-time.ts';

/** The width of a column of positions. */
const positionColumns = 4;

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

/**
 * One line for each event, starting with its position. Each day (UTC) is on a line of its own before its first event. `role`: how a row
 * names its dispatch, where there are several; `width`: the largest width of a line in columns; `paint`: adds colours, absent: none.
 */
export async function* renderTimeline(
  rows: Iterable<TimelineRow> | AsyncIterable<TimelineRow>,
  {
    width,
    role,
    paint = (_, text) => text,
  }: Pick<RenderLineOptions, 'width'> & {
    readonly role?: (row: TimelineRow) => string;
    readonly paint?: (ink: Ink, text: string) => string;
  } = {},
): AsyncGenerator<string> {
  let day = '';
  for await (const row of rows) {
    const heading = dayHeading(row.event.timestamp, day);
    if (heading !== null) yield paint('dim', heading);
    day = heading ?? day;
    const address = `${String(row.position).padStart(positionColumns)}  `;
    const room = width === undefined ? undefined : Math.max(1, width - address.length);
    yield paint('position', address) + renderLine(row.words, { width: room, role: role?.(row), paint });
  }
}
