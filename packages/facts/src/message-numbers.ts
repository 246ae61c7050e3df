import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';

/** A message id as session logs have them, and the ids of events that a reader made of it. */
const numbered = /^msg_(\d{1,15})(?!\d)/;

/** An id that Hansard minted. */
const minted = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Types of which each event is a record of a session log. */
const single: ReadonlySet<string> = new Set(['agent:created', 'agent:piece_of_text']);

/** Types whose events are the blocks of a message. */
const blocks: ReadonlySet<string> = new Set([
  'agent:given',
  'agent:system_prompt',
  'agent:text',
  'agent:tool_call',
  'agent:tool_result',
  'user:message',
]);

/** Fields of data that have no ids but contents. */
const contents: ReadonlySet<string> = new Set([
  'text',
  'input',
  'output',
  'result',
  'parts',
  'reason',
  'summary',
  'toolCalls',
]);

/**
 * The events of a log with message numbers that continue those of an imported session log: after `msg_020` the next message,
 * agent or piece of text is `msg_021`. References follow. What was not minted by Hansard keeps its id, and so does a log without message
 * numbers, which is returned unchanged. The numbers depend on the order of the log alone.
 */
export function numberMessages(events: readonly CapturedEvent[]): readonly CapturedEvent[] {
  const last = lastNumber(events);
  if (last === null) return events;
  const names = namesAfter(events, last);
  return names.of.size === 0 ? events : events.map((event) => renamed(event, names));
}

interface Names {
  /** The new names of events and messages, by their ids. */
  readonly of: ReadonlyMap<string, string>;
  /** Those of thoughts whose event has the id of its message. */
  readonly ofThoughts: ReadonlyMap<string, string>;
}

/** The largest message number; null: none has one. */
function lastNumber(events: readonly CapturedEvent[]): number | null {
  let last = -1;
  for (const { id } of events)
    if (id.startsWith('msg_')) last = Math.max(last, Number(numbered.exec(id)?.[1] ?? -1));
  return last < 0 ? null : last;
}

function namesAfter(events: readonly CapturedEvent[], last: number): Names {
  const of = new Map<string, string>();
  const ofThoughts = new Map<string, string>();
  /** How many blocks of each message have a name. */
  const sizes = new Map<string, number>();
  let number = last;
  const next = () => {
    number += 1;
    return `msg_${String(number).padStart(3, '0')}`;
  };
  // The record of a message is its first block that is not a thought, so a thought alone has none.
  const recorded = new Set(events.flatMap((event) => (isRecorded(event) ? [messageOf(event)] : [])));
  for (const event of events) {
    const { id, type } = event;
    const messageId = messageOf(event);
    if (single.has(type) && minted.test(id)) of.set(id, next());
    const isThought = type === 'agent:thinking';
    if (!recorded.has(messageId) || !minted.test(messageId) || !(isThought || isRecorded(event))) continue;
    const size = sizes.get(messageId) ?? 0;
    const name = of.get(messageId) ?? next();
    of.set(messageId, name);
    if (isThought) (id === messageId ? ofThoughts : of).set(id, `${name}:thinking`);
    else if (id !== messageId) of.set(id, size === 0 ? name : `${name}.${size}`);
    if (!isThought) sizes.set(messageId, size + 1);
  }
  return { of, ofThoughts };
}

function messageOf({ id, messageId = id }: CapturedEvent): string {
  return messageId;
}

/** Whether an event is a block of a message in a session log. */
function isRecorded({ type, messageId, data }: CapturedEvent): boolean {
  // An empty answer is an output without parts.
  const isEmptyAnswer =
    type === 'agent:output' &&
    messageId !== undefined &&
    Array.isArray(data.parts) &&
    data.parts.length === 0;
  return blocks.has(type) || isEmptyAnswer;
}

function renamed(event: CapturedEvent, { of, ofThoughts }: Names): CapturedEvent {
  const { id, messageId, substance, cause, via, follows, retracts, data } = event;
  const nameOf = (one: string) => of.get(one) ?? one;
  return {
    ...event,
    id: ofThoughts.get(id) ?? nameOf(id),
    ...(messageId === undefined ? {} : { messageId: nameOf(messageId) }),
    ...(substance === undefined ? {} : { substance: nameOf(substance) }),
    ...(cause === undefined ? {} : { cause: typeof cause === 'string' ? nameOf(cause) : cause.map(nameOf) }),
    ...(via === undefined ? {} : { via: nameOf(via) }),
    ...(follows === undefined ? {} : { follows: nameOf(follows) }),
    ...(retracts === undefined ? {} : { retracts: retracts.map(nameOf) }),
    data: inData(data, of) as JsonObject,
  };
}

function inData(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === 'string') return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one) => inData(one, names));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      contents.has(key) || one === undefined ? one : inData(one, names),
    ]),
  ) as JsonObject;
}
