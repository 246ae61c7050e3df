import type { CapturedEvent, JsonObject } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { createTextSplitter, type PartRules, type TextPart } from './text-parts.ts';

/**
 * A log in which the texts of agents are events for each of their parts: speech is a text, a whisper a message that was sent, and all else a thought. The first
 * part of a text has its id, so that what names it still does. Texts beside tool calls stay as they are.
 */
export function splitMessages(events: readonly CapturedEvent[], rules: PartRules): CapturedEvent[] {
  const split = createTextSplitter(rules);
  const texts = new Map<string, string[]>();
  const withCalls = new Set<string>();
  for (const event of events) {
    const key = keyOf(event);
    if (isReadableAs(event, 'agent:text')) texts.set(key, [...(texts.get(key) ?? []), event.data.text]);
    else if (isReadableAs(event, 'agent:tool_call')) withCalls.add(key);
  }
  const open = new Map<string, { parts: TextPart[]; end: number; ids: string[] }>();
  /** By the id of a text: the id of what its message says; null: nothing. */
  const said = new Map<string, string | null>();
  return events.flatMap((event): CapturedEvent[] => {
    const key = keyOf(event);
    if (!isReadableAs(event, 'agent:text') || withCalls.has(key)) return [withSubstance(event, said)];
    const blocks = texts.get(key) ?? [];
    const message = open.get(key) ?? { parts: [...split(blocks.join('')).parts], end: 0, ids: [] };
    open.set(key, message);
    message.end += event.data.text.length;
    message.ids.push(event.id);
    const isLast = message.ids.length === blocks.length;
    const next = isLast ? -1 : message.parts.findIndex(({ start }) => start >= message.end);
    const own = message.parts.splice(0, next < 0 ? message.parts.length : next);
    const chat = own.findIndex(({ kind }) => kind === 'chat');
    const first = chat < 0 ? own.findIndex(({ kind }) => kind === 'whisper') : chat;
    if (first >= 0 && said.get(key) === undefined) said.set(key, event.id);
    for (const id of message.ids) said.set(id, said.get(key) ?? null);
    if (own.length === 0) return [thoughtOf(event, event.id, '')];
    const kept = Math.max(0, first);
    return own.flatMap((part, at) => partEvents(event, at === kept ? event.id : `${event.id}:${at}`, part));
  });
}

/** An event that carries what a message says, whichever of its texts it names. */
function withSubstance(event: CapturedEvent, said: ReadonlyMap<string, string | null>): CapturedEvent {
  const of = event.substance === undefined ? undefined : said.get(event.substance);
  if (of === undefined || of === event.substance) return event;
  const { substance: _, ...alone } = event;
  return of === null ? alone : { ...alone, substance: of };
}

function keyOf({ id, agentId = '', messageId = id }: CapturedEvent): string {
  return `${agentId} ${messageId}`;
}

function partEvents(event: CapturedEvent, id: string, { kind, text, to }: TextPart): CapturedEvent[] {
  if (kind === 'chat') return [{ ...event, id, data: { ...event.data, text } }];
  if (kind !== 'whisper') return [thoughtOf(event, id, text)];
  const { messageId: _, ...alone } = event;
  const receivers = to.length === 0 ? [{}] : to.map((agent) => ({ agent }));
  return receivers.map((receiver, at) => ({
    ...alone,
    id: at === 0 ? id : `${id}:${at}`,
    type: 'agent:message_sent',
    data: { text, to: receiver },
  }));
}

function thoughtOf(event: CapturedEvent, id: string, text: string): CapturedEvent {
  const data: JsonObject = { text };
  return { ...event, id, type: 'agent:thinking', data };
}
