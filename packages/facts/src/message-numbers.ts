import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';

/** A message id as session logs have them, and the ids of events that a reader made of it, such as `msg_020.1`. */
const numbered = /^(msg_(\d{1,15}))(?![0-9A-Za-z])/;

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
 * Gives the messages, agents and pieces of text that Hansard recorded the ids that a session log has (`msg_001`), in the order of the log: after
 * `msg_020` of an imported log comes `msg_021`. What Hansard did not mint keeps its id, unless that number was given before. The number of an
 * event depends on the events before it alone, so a log that grows keeps its numbers.
 */
export class MessageNumbers {
  /** The new ids of events and messages. */
  readonly #names = new Map<string, string>();
  /** How many blocks of each message have a name. */
  readonly #sizes = new Map<string, number>();
  /** The ids that were given here. */
  readonly #given = new Set<string>();
  #last = 0;

  /** Adds the next event of the log. Returns the event with its new id. Its links have the new ids of earlier events. */
  add(event: CapturedEvent): CapturedEvent {
    const { id, type } = event;
    const messageId = messageOf(event);
    if (single.has(type) && this.#isNamed(id)) {
      this.#names.set(id, this.#next());
    } else if (isRecorded(event) && this.#isNamed(messageId)) {
      const size = this.#sizes.get(messageId) ?? 0;
      const name = (size === 0 ? undefined : this.#names.get(messageId)) ?? this.#next();
      this.#names.set(messageId, name);
      if (id !== messageId) this.#names.set(id, size === 0 ? name : `${name}.${size}`);
      this.#sizes.set(messageId, size + 1);
    } else this.#last = Math.max(this.#last, Number(numbered.exec(id)?.[2] ?? 0));
    return this.#names.size === 0 ? event : linked(event, (one) => this.nameOf(one));
  }

  /** The new id of an event or a message, or its own. */
  nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }

  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** Whether an id gets a number. */
  #isNamed(id: string): boolean {
    return minted.test(id) || this.#given.has(numbered.exec(id)?.[1] ?? '');
  }

  #next(): string {
    this.#last += 1;
    const name = `msg_${String(this.#last).padStart(3, '0')}`;
    this.#given.add(name);
    return name;
  }
}

/**
 * The events of a log that has message numbers with those that `MessageNumbers` gives to what follows, in every reference. A log without
 * message numbers is returned unchanged.
 */
export function numberMessages(events: readonly CapturedEvent[]): readonly CapturedEvent[] {
  if (!events.some(({ id }) => numbered.test(id))) return events;
  const numbers = new MessageNumbers();
  for (const event of events) numbers.add(event);
  const { names } = numbers;
  if (names.size === 0) return events;
  const thoughts = new Map<string, number>();
  return events.map((event) => {
    const renamed = {
      ...linked(event, (one) => names.get(one) ?? one),
      data: inData(event.data, names) as JsonObject,
    };
    const name = event.type === 'agent:thinking' ? names.get(messageOf(event)) : undefined;
    if (name === undefined) return renamed;
    const count = thoughts.get(name) ?? 0;
    thoughts.set(name, count + 1);
    return { ...renamed, id: `${name}:thinking${count === 0 ? '' : `.${count}`}` };
  });
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

/** An event with other ids in its id, its message and its links. */
function linked(event: CapturedEvent, nameOf: (id: string) => string): CapturedEvent {
  const { id, messageId, substance, cause, via, follows, retracts } = event;
  return {
    ...event,
    id: nameOf(id),
    ...(messageId === undefined ? {} : { messageId: nameOf(messageId) }),
    ...(substance === undefined ? {} : { substance: nameOf(substance) }),
    ...(cause === undefined ? {} : { cause: typeof cause === 'string' ? nameOf(cause) : cause.map(nameOf) }),
    ...(via === undefined ? {} : { via: nameOf(via) }),
    ...(follows === undefined ? {} : { follows: nameOf(follows) }),
    ...(retracts === undefined ? {} : { retracts: retracts.map(nameOf) }),
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
