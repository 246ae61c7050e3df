import type { PositionedEvent } from '@hansard/dispatch';
import { type CapturedEvent, inLineOrder } from '@hansard/events';
import { AgentNames, eventWords, renderLine } from '@hansard/views';
import type { Answer, Pieces } from './answer.ts';
import { type CliContext, terminalWidth } from './context.ts';
import { createPainter } from './painter.ts';
import { atShownTime } from './shown-time.ts';

/** The width of a column of positions, as in the rows of `show`. */
const positionColumns = 4;

/**
 * The events of one dispatch as an answer: one JSON document or one line of text per event. A line begins with the position, which other
 * commands take as an address. Lines name agents as earlier events do; `names` can have learned from events that are not in the answer.
 */
export function eventAnswer(
  context: CliContext,
  events: Pieces<PositionedEvent>,
  names: AgentNames = new AgentNames(),
): Answer {
  return { rows: lineOrdered(events), text: eventLines(context, events, names), isPainted: true };
}

async function* lineOrdered(events: Pieces<PositionedEvent>): AsyncGenerator<CapturedEvent> {
  for await (const { event } of events) yield inLineOrder(event);
}

async function* eventLines(
  context: CliContext,
  events: Pieces<PositionedEvent>,
  names: AgentNames,
): AsyncGenerator<string> {
  const paint = createPainter(context);
  for await (const { position, event } of events) {
    const address = `${String(position).padStart(positionColumns)}  `;
    const width = terminalWidth(context);
    const room = width === undefined ? undefined : Math.max(1, width - address.length);
    const words = eventWords(atShownTime(context, event), names);
    yield paint('position', address) + renderLine(words, { width: room, paint });
  }
}
