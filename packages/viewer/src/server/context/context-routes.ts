import { type CapturedEvent, replacedBy } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  contextErrors,
  type RenderedCall,
  readContextManifest,
  redactionNote,
  renderCalls,
  unknownContext,
  verificationOf,
} from '@hansard/prompt';
import { contextCounters } from '@hansard/prompt/tokens';
import { contextMessageText, renderManifest, requestLines } from '@hansard/views';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContextAnswer, ContextText } from '../../answers.ts';
import { lastLines, shownText, timeOf } from '../lenses/lens-page.ts';
import { onePart, wholeNumber } from '../parameters.ts';
import type { OpenDispatch, OpenDispatches } from '../viewed-store.ts';

/** A context is rendered from all events before its call. With more than these, it is not rendered. */
const mostEvents = 50_000;

/**
 * What the model was given in a call, below `/api`. The position is that of the call, or of an event of its answer.
 *
 *     GET /d/:task/:id/context/:position?end=           at most 200 messages before message `end`, or the last ones
 *     GET /d/:task/:id/context/:position/message/:number  one message, whole
 */
export function contextRoutes(dispatches: OpenDispatches): Hono {
  const app = new Hono();

  app.get('/d/:task/:id/context/:position', async (context) => {
    const end = wholeNumber(context, 'end');
    const { open, call } = await callOf(context);
    return context.json(await contextAnswer(open, call, end));
  });

  app.get('/d/:task/:id/context/:position/message/:number', async (context) => {
    const number = onePart(context.req.param('number'));
    const { open, call } = await callOf(context);
    const message = (await renderModelCall(open, call)).rendered?.messages[number];
    if (message === undefined) throw missing(`There is no message ${number}.`);
    return context.json({ text: contextMessageText(message).body } satisfies ContextText);
  });

  return app;

  async function callOf(context: Context): Promise<{ open: OpenDispatch; call: ModelCall }> {
    const { task = '', id = '', position = '' } = context.req.param() as Record<string, string>;
    const wanted = onePart(position);
    const open = await dispatches.find({ taskDir: task, dispatchId: id });
    if (open === null) throw missing(`There is no dispatch ${id} in ${task}.`);
    const call = await findModelCall(open, wanted);
    if (call === null) throw missing(`There is no model call for event ${wanted}.`);
    return { open, call };
  }
}

function missing(message: string): HTTPException {
  return new HTTPException(404, { message });
}

async function contextAnswer(
  open: OpenDispatch,
  call: ModelCall,
  end: number | null,
): Promise<ContextAnswer> {
  const { position, event, next } = call;
  const { agentId = '' } = event;
  const { title, role } = await open.log.refresh();
  const agent = (await open.rows.agents()).find(({ id }) => id === agentId)?.name ?? agentId;
  const { rendered, problem, previous }: RenderedModelCall = await renderModelCall(open, call);
  const about = {
    title: neutraliseControlsInLine(title ?? role),
    call: position,
    eventId: neutraliseControlsInLine(event.id),
    agent: neutraliseControlsInLine(agent),
    time: timeOf(event),
    ...{ previous, next },
  };
  if (rendered === null)
    return {
      ...about,
      verification: { isSame: null, text: problem },
      ...{ notes: [], manifest: '', count: 0, newFrom: null, lines: [], earlier: 0 },
    };
  const { recorded, manifest, messages, request } = rendered;
  const numbered = messages.map((message, number) => ({ message, number }));
  return {
    ...about,
    verification: verificationOf(rendered),
    notes: notesOf(rendered, await isRedactedLater(open)),
    manifest: [renderManifest(recorded ?? manifest), ...requestLines(request)].join('\n'),
    count: messages.length,
    newFrom: recorded === null ? null : recorded.prefix.messages,
    ...lastLines(numbered, end, ({ message, number }) => {
      const { head, body } = contextMessageText(message);
      return { number, role: message.role, head, ...shownText(body) };
    }),
  };
}

/** Whether secrets were replaced in a log after it had ended: the notice of it is its last event. */
async function isRedactedLater({ log }: OpenDispatch): Promise<boolean> {
  const { events } = await log.last(1);
  return events.some((event) => replacedBy(event) !== null);
}

function notesOf(rendered: RenderedCall, isRedactedLater: boolean): string[] {
  return [
    rendered.basis === 'recorded' ? null : 'This context was reconstructed from the log.',
    redactionNote(rendered, isRedactedLater),
  ].filter((note) => note !== null);
}

/** A model call, found in a log. */
interface ModelCall {
  readonly position: number;
  readonly event: CapturedEvent;
  readonly next: number | null;
}

/** The model call that an event records, or of whose answer it is a part; null: there is none near it. */
async function findModelCall({ rows }: OpenDispatch, position: number): Promise<ModelCall | null> {
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
interface RenderedModelCall {
  readonly rendered: RenderedCall | null;
  /** Why there is no context; '' if there is one. */
  readonly problem: string;
  readonly previous: number | null;
}

/** Renders the context of a call again from the log. */
async function renderModelCall(
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
