import { type CapturedEvent, inLineOrder } from '@hansard/events';
import { AgentNames, eventLine, renderEventLine } from '@hansard/views';
import type { Answer, Pieces } from './answer.ts';
import { type CliContext, terminalWidth } from './context.ts';

/**
 * The events of one dispatch as an answer: one JSON document or one line of text per event. Lines name agents as earlier
 * events do; `names` can have learned from events that are not in the answer.
 */
export function eventAnswer(
  context: CliContext,
  events: Pieces<CapturedEvent>,
  names: AgentNames = new AgentNames(),
): Answer {
  return { rows: lineOrdered(events), text: eventLines(context, events, names) };
}

async function* lineOrdered(events: Pieces<CapturedEvent>): AsyncGenerator<CapturedEvent> {
  for await (const event of events) yield inLineOrder(event);
}

async function* eventLines(
  context: CliContext,
  events: Pieces<CapturedEvent>,
  names: AgentNames,
): AsyncGenerator<string> {
  for await (const event of events)
    yield renderEventLine(eventLine(event, names), { width: terminalWidth(context) });
}
