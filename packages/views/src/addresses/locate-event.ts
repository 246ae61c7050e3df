import type { CapturedEvent } from '@hansard/events';
import { MessageNumbers } from '@hansard/facts';
import { parseInstant, type TimeReading } from './instant.ts';

/** The most ids that are kept as choices. */
const mostChoices = 10;

/** The event that an address names. */
export type EventLocation =
  | ({ readonly kind: 'found' } & FoundEvent)
  /** `isMore`: there are others. */
  | { readonly kind: 'ambiguous'; readonly choices: readonly FoundEvent[]; readonly isMore: boolean }
  /**
   * The dispatch has `count` events, none of which has this position, time or id. `begins`: the time of the first; null: there is none, or
   * its time is not recorded.
   */
  | { readonly kind: 'unknown'; readonly count: number; readonly begins: string | null };

/** How far times can be out of order: no event is recorded more than this number of positions after one that is later. */
const disorder = 1_000;

/**
 * Finds the event that an address names, with at most a page of events in memory.
 *
 * A position and `latest` read one event. A time reads one event for each bit of the number of events, about 20 in a
 * dispatch of a million, and then 1,000 events at once. An event whose time is not recorded is never named by a time; the events up to the
 * next one with a time are then read instead. It is exact if no event was recorded more than 1,000 positions after one that
 * is later. A whole id reads up to that event; the id of a message, or a part of an id, reads the whole dispatch. The number of a message
 * that was added to an imported session log (`msg_021`) has the whole dispatch in memory.
 */
export async function locateEvent(log: AddressedLog, address: EventAddress): Promise<EventLocation> {
  const count = await log.count();
  if (address.kind === 'id') return await byId(log, address.id, count);
  const found = await foundAt(log, address, count);
  return found ?? (await unknown(log, count));
}

async function foundAt(
  log: AddressedLog,
  address: Exclude<EventAddress, { readonly kind: 'id' }>,
  count: number,
): Promise<EventLocation | null> {
  if (address.kind === 'time') return lastUpTo(log, address.until, count);
  const position = address.kind === 'latest' ? count - 1 : address.position;
  const event = position < count ? await eventAt(log, position) : null;
  return event === null ? null : { kind: 'found', position, event, id: event.id };
}

/**
 * 1. Halves the positions. Invariant: `low` is -1 or an event up to the time, and no event with a time from `high` on precedes `later`, which is
 *    the position of a later event or the end.
 * 2. With times in order, the answer is the last event with a time from `low` to `high`. Otherwise it can follow `later`, by at most the disorder.
 * 3. Takes the last event up to the time from `low` to there.
 */
async function lastUpTo(log: AddressedLog, until: number, count: number): Promise<EventLocation | null> {
  let low = -1;
  let high = count;
  let later = count;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const timed = await firstTimed(log, middle, high);
    if (timed !== null && timed.time <= until) low = timed.position;
    else {
      high = middle;
      later = timed?.position ?? later;
    }
  }
  let found: EventLocation | null = null;
  const end = Math.min(count, later + disorder + 1);
  for await (const { first, events } of log.pages({ after: Math.max(0, low) - 1, limit: disorder + 2 })) {
    for (const [index, event] of events.entries())
      if (first + index < end && isUpTo(event, until))
        found = { kind: 'found', position: first + index, event, id: event.id };
    if (first + events.length >= end) break;
  }
  return found;
}

function isUpTo({ timestamp }: CapturedEvent, until: number): boolean {
  return timestamp !== null && Date.parse(timestamp) <= until;
}

/** The first event with a time from a position on and before another one. Null: none has one. */
async function firstTimed(
  log: AddressedLog,
  from: number,
  end: number,
): Promise<{ readonly position: number; readonly time: number } | null> {
  const event = await eventAt(log, from);
  if (event !== null && event.timestamp !== null)
    return { position: from, time: Date.parse(event.timestamp) };
  for await (const { first, events } of log.pages({ after: from }))
    for (const [index, { timestamp }] of events.entries()) {
      if (first + index >= end) return null;
      if (timestamp !== null) return { position: first + index, time: Date.parse(timestamp) };
    }
  return null;
}

async function byId(log: AddressedLog, wanted: string, count: number): Promise<EventLocation> {
  const search = new IdSearch(wanted);
  for await (const { first, events } of log.pages()) {
    for (const [index, event] of events.entries()) {
      const position = first + index;
      if (search.isFoundIn(event, position)) return { kind: 'found', position, event, id: event.id };
    }
  }
  const ofNumber = await byMessageNumber(log, wanted);
  if (ofNumber !== null) return ofNumber;
  const { choices, isMore } = search.end();
  const [only] = choices;
  if (only === undefined) return unknown(log, count);
  return choices.length === 1 ? { kind: 'found', ...only } : { kind: 'ambiguous', choices, isMore };
}

/** The message with this number in an export as a session log: see `MessageNumbers`. */
async function byMessageNumber(log: AddressedLog, wanted: string): Promise<EventLocation | null> {
  if (!/^msg_\d+$/.test(wanted)) return null;
  const numbers = new MessageNumbers();
  for await (const { first, events } of log.pages())
    for (const [index, event] of events.entries()) {
      const { id, messageId = id } = numbers.add(event);
      if (messageId === wanted) return { kind: 'found', position: first + index, event, id: event.id };
    }
  return null;
}

async function unknown(log: AddressedLog, count: number): Promise<EventLocation> {
  const first = count === 0 ? null : await eventAt(log, 0);
  return { kind: 'unknown', count, begins: first?.timestamp ?? null };
}

async function eventAt(log: AddressedLog, position: number): Promise<CapturedEvent | null> {
  for await (const { events } of log.pages({ after: position - 1, limit: 1 })) return events[0] ?? null;
  return null;
}

/** Finds an event or a message by its id, its end or its beginning, given the events one by one. It keeps a few of them. */
class IdSearch {
  readonly #wanted: string;
  #message: FoundEvent | null = null;
  /** One more than can be shown, so that it is known whether there are more. */
  readonly #endings = new Map<string, FoundEvent>();
  readonly #beginnings = new Map<string, FoundEvent>();

  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  /** Reads the next event; true if its id is the wanted one, so that no other event can be meant. */
  isFoundIn(event: CapturedEvent, position: number): boolean {
    const { id, messageId } = event;
    if (id === this.#wanted) return true;
    this.#consider({ position, event, id });
    if (messageId === undefined || messageId === id) return false;
    const message = { position, event, id: messageId };
    if (messageId === this.#wanted) this.#message ??= message;
    else this.#consider(message);
    return false;
  }

  /** What is meant, after the last event. The first choice alone if there is no other. */
  end(): { readonly choices: readonly FoundEvent[]; readonly isMore: boolean } {
    if (this.#message !== null) return { choices: [this.#message], isMore: false };
    const fitting = [...(this.#endings.size > 0 ? this.#endings : this.#beginnings).values()];
    return { choices: fitting.slice(0, mostChoices), isMore: fitting.length > mostChoices };
  }

  #consider(found: FoundEvent): void {
    if (found.id.endsWith(this.#wanted)) keep(this.#endings, found);
    else if (found.id.startsWith(this.#wanted)) keep(this.#beginnings, found);
  }
}

function keep(choices: Map<string, FoundEvent>, found: FoundEvent): void {
  if (choices.size <= mostChoices && !choices.has(found.id)) choices.set(found.id, found);
}

/** An event that an address names, or can name. */
export interface FoundEvent {
  readonly position: number;
  readonly event: CapturedEvent;
  /** The id that was meant: of the event, or of the message whose first block it is. */
  readonly id: string;
}

/** The reads that finding an event needs. A `DispatchLog` of `@hansard/dispatch` has them. */
export interface AddressedLog {
  count(): Promise<number>;
  /** The events after a position in pages, none of them empty; at most `limit` events in each. */
  pages(options?: { readonly after?: number; readonly limit?: number }): AsyncIterable<{
    /** The position of its first event. */
    readonly first: number;
    readonly events: readonly CapturedEvent[];
  }>;
}

/** The events of a dispatch that are in memory. */
export function addressedEvents(events: readonly CapturedEvent[]): AddressedLog {
  return {
    count: async () => events.length,
    async *pages({ after = -1, limit = 1_000 } = {}) {
      for (let first = after + 1; first < events.length; first += limit)
        yield { first, events: events.slice(first, first + limit) };
    },
  };
}

/** The name of an event in its dispatch, as a person writes it. */
export type EventAddress =
  | { readonly kind: 'position'; readonly position: number }
  /** The last event up to this time, in milliseconds since 1970. */
  | { readonly kind: 'time'; readonly until: number }
  | { readonly kind: 'latest' }
  /** The id of an event or a message, whole, its end or its beginning. */
  | { readonly kind: 'id'; readonly id: string };

/**
 * Reads an address: a bare whole number is a position, `@` and a time the last event up to the end of that time, `latest` the last
 * event, and any other text an id. Null for `@` and a text that is not a time, and for an empty text.
 */
export function parseAddress(text: string, clock: TimeReading): EventAddress | null {
  if (/^\d+$/.test(text)) return { kind: 'position', position: Number(text) };
  if (text === 'latest') return { kind: 'latest' };
  if (text === '') return null;
  if (!text.startsWith('@')) return { kind: 'id', id: text };
  const instant = parseInstant(text.slice(1), clock);
  return instant === null ? null : { kind: 'time', until: instant.to };
}
