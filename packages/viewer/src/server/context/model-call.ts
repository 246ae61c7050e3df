import type { CapturedEvent } from '@hansard/events';
import {
  contextErrors,
  type RenderedCall,
  readContextManifest,
  renderCalls,
  unknownContext,
} from '@hansard/prompt';
import { contextCounters } from '@hansard/prompt/tokens';
import type { OpenDispatch } from '../open-dispatches.ts';

/** A context is rendered from all events before its call. With more than these, it is not rendered. */
const mostEvents = 50_000;

/** A model call, found in a log. */
export interface ModelCall {
  readonly position: number;
  readonly event: CapturedEvent;
  readonly next: number | null;
}

/** The model call that an event records, or of whose answer it is a part; null: there is none near it. */
export async function findModelCall({ rows }: OpenDispatch, position: number): Promise<ModelCall | null> {
  const { first, events, rows: around } = await rows.around(position);
  const wanted = events[position - first];
  if (wanted === undefined) return null;
  const messageId = wanted.messageId ?? wanted.id;
  const inRow = around.find((row) => row.events.includes(position))?.events ?? [];
  const isCall = ({ type }: CapturedEvent) => type === 'agent:inference';
  const at = isCall(wanted)
    ? position
    : (placeOf(events, first, (event) => isCall(event) && event.messageId === messageId) ??
      placeOf(events, first, (event, place) => isCall(event) && inRow.includes(place)));
  const event = at === null ? undefined : events[at - first];
  if (at === null || event === undefined) return null;
  const next = placeOf(
    events,
    first,
    (other, place) => place > at && isCall(other) && other.agentId === event.agentId,
  );
  return { position: at, event, next };
}

function placeOf(
  events: readonly CapturedEvent[],
  first: number,
  isWanted: (event: CapturedEvent, position: number) => boolean,
): number | null {
  const at = events.findIndex((event, index) => isWanted(event, first + index));
  return at === -1 ? null : first + at;
}

/** A call that was rendered, or why it was not. */
export interface RenderedModelCall {
  readonly rendered: RenderedCall | null;
  /** Why there is no context; '' if there is one. */
  readonly problem: string;
  readonly previous: number | null;
}

/** Renders the context of a call again from the log. */
export async function renderModelCall(
  { log }: OpenDispatch,
  { position, event }: ModelCall,
): Promise<RenderedModelCall> {
  const unknown = unknownContext(await log.refresh());
  if (unknown !== null) return { rendered: null, problem: unknown, previous: null };
  if (position >= mostEvents)
    return {
      rendered: null,
      problem: `The call is after the first ${mostEvents} events, which is too far to render it here. The command below prints it.`,
      previous: null,
    };
  const events: CapturedEvent[] = [];
  for await (const page of log.pages({ limit: position + 1 })) {
    events.push(...page.events.slice(0, position + 1 - events.length));
    if (events.length > position) break;
  }
  const before = events.findLastIndex(
    ({ type, agentId }, at) => at < position && type === 'agent:inference' && agentId === event.agentId,
  );
  const previous = before === -1 ? null : before;
  try {
    const recorded = readContextManifest(event);
    const counters = recorded === null || recorded.tokens === null ? [] : await contextCounters(recorded);
    const [rendered = null] = renderCalls(events, { only: ({ id }) => id === event.id, counters });
    return { rendered, problem: '', previous };
  } catch (error) {
    if (contextErrors.is(error)) return { rendered: null, problem: error.message, previous };
    throw error;
  }
}
