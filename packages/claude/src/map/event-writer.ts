import {
  type Delta,
  type EventData,
  type EventLinks,
  type EventType,
  eventDataSchemas,
  type Fidelity,
  type JsonObject,
  type KnownEventType,
  type NewEvent,
  separateContent,
  toNarrative,
} from '@hansard/events';
import { hasFields, withoutUndefined } from '../lines/json-fields.ts';
import { RecentMap } from './horizon.ts';
import type { EventIds } from './ids.ts';

/** The result of mapping a message: events to record, and deltas that are only shown (D8). An `AgentActivity` of `@hansard/provider`. */
export type ClaudeActivity =
  | { readonly kind: 'event'; readonly event: NewEvent }
  | { readonly kind: 'delta'; readonly delta: Delta };

const longestAction = 80;
const actions = new RecentMap<string>(100);

/** The event type for a kind without an event type of its own: its name in lower snake case. */
export function unknownEventType(category: 'agent' | 'system' | 'user', word: string): EventType {
  let action = actions.get(word);
  if (action === undefined) {
    action = toAction(word);
    actions.set(word, action);
  }
  return `${category}:${action}`;
}

function toAction(word: string): string {
  const snake = word
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .slice(0, longestAction);
  return /^[a-z]/.test(snake) ? snake : `x_${snake}`;
}

export function isKnownEventType(type: EventType): boolean {
  return Object.hasOwn(eventDataSchemas, type);
}

const none: readonly string[] = [];

type WithGaps<T> = { readonly [Key in keyof T]: T[Key] | undefined };

/** Links of an event; undefined ones are left out. */
export type WriterLinks = WithGaps<EventLinks>;

/**
 * Collects the events and deltas of one message. The first event gets the id of the message, the others ID.1, ID.2 …
 * Events about something else (an agent, an inference, a denial) get an id of their own by `derived`.
 */
export class EventWriter {
  readonly activities: ClaudeActivity[] = [];
  /** Orders the message among others, in milliseconds since 1970: its time, or the time of the message before it. */
  readonly time: number;
  /** The time of its events. Null: the message has none. */
  readonly timestamp: string | null;
  /** The fields of the message without a place in an event. They go to its first event. */
  details: JsonObject = {};
  /** The events that the first event of the message retracts. */
  retracts: readonly string[] = [];
  /** Whether no prompt ever has the message: each of its events takes itself back. */
  isNeverSent = false;
  readonly #id: string | undefined;
  readonly #ids: EventIds;
  readonly #isTaken: boolean;
  readonly #fidelity: Fidelity;
  #written = 0;

  /** `isTaken`: the id is already reserved for the first event of the message. */
  constructor(
    ids: EventIds,
    id: string | undefined,
    { time, timestamp }: Pick<EventWriter, 'time' | 'timestamp'>,
    isTaken: boolean,
    fidelity: Fidelity,
  ) {
    this.#fidelity = fidelity;
    this.#ids = ids;
    this.#id = id;
    this.#isTaken = isTaken;
    this.time = time;
    this.timestamp = timestamp;
  }

  /** Whether the message has an event, other than those that have an id of their own. */
  get hasEvent(): boolean {
    return this.#written > 0;
  }

  /** Adds an event of a known type and returns its id, if it has one. */
  event<T extends KnownEventType>(type: T, data: EventData<T>, links?: WriterLinks): string | undefined {
    return this.other(type, data as JsonObject, links);
  }

  /** Adds an event of any type. */
  other(type: EventType, data: JsonObject, links: WriterLinks = {}): string | undefined {
    const isFirst = this.#written === 0;
    const id = isFirst ? this.#firstId() : this.#ids.claim(this.#id && `${this.#id}.${this.#written}`);
    this.#written += 1;
    const isTakenBack = this.isNeverSent && id !== undefined;
    const retracts = isFirst && this.retracts.length > 0 ? this.retracts : none;
    const all =
      isTakenBack || retracts !== none
        ? { ...links, retracts: isTakenBack ? [...retracts, id] : retracts }
        : links;
    this.#push(id, type, isFirst ? withDetails(data, this.details) : data, all, this.timestamp);
    return id;
  }

  #firstId(): string | undefined {
    return this.#isTaken ? this.#id : this.#ids.claim(this.#id);
  }

  /** Adds an event that has an id of its own. */
  derived<T extends EventType>(
    id: string | undefined,
    type: T,
    data: T extends KnownEventType ? EventData<T> : JsonObject,
    links: WriterLinks,
    timestamp = this.timestamp,
  ): void {
    this.#push(this.#ids.claim(id), type, data as JsonObject, links, timestamp);
  }

  delta(type: Delta['type'], text: string, links: WithGaps<Omit<Delta, 'type' | 'text'>>): void {
    const delta = withoutUndefined({ type, text, ...links }) as Delta;
    this.activities.push({ kind: 'delta', delta });
  }

  #push(
    id: string | undefined,
    type: EventType,
    data: JsonObject,
    links: WriterLinks,
    timestamp: string | null,
  ): void {
    const event: Record<string, unknown> = id === undefined ? { type } : { id, type };
    event.timestamp = timestamp;
    for (const key in links) {
      const link = links[key as keyof WriterLinks];
      if (link !== undefined) event[key] = link;
    }
    event.data = withoutUndefined(data);
    const separated = separateContent(event as unknown as NewEvent);
    // The log stores the same bytes once.
    for (const content of separated.contents)
      if (this.#ids.claim(content.id) !== undefined) this.#add(content);
    this.#add(separated.event);
  }

  #add(event: NewEvent): void {
    this.activities.push({ kind: 'event', event: this.#fidelity === 'full' ? event : toNarrative(event) });
  }
}

/** Adds further fields of the source to the data of an event, as `details`. */
export function withDetails<T extends object>(data: T, details: JsonObject): T {
  if (!hasFields(details)) return data;
  const own = (data as { details?: JsonObject }).details;
  return { ...data, details: own === undefined ? details : { ...details, ...own } };
}
