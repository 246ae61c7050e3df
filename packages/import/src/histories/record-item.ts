import { hash } from 'node:crypto';
import { asList, asObject, RecentMap, unknownEventType, withDetails } from '@hansard/claude';
import {
  type CapturedEvent,
  type EventData,
  type EventLinks,
  type EventType,
  eventProblem,
  type JsonObject,
  type JsonValue,
  type KnownEventType,
  type NewEvent,
  type Usage,
} from '@hansard/events';
import { entryTypes } from '../record/lost-rows.ts';

/** Whether a value says nothing: null, an empty list, an empty object. */
export function isNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

/**
 * The fields of a record. An event takes each field that it holds in another form. `rest` has the others, at every level, so that no field of a
 * newer version is lost.
 */
export class Fields {
  readonly own: JsonObject;
  /** A record has few fields, and each object of it has such lists: lists cost less than sets, and none costs least. */
  readonly #taken: string[] = [];
  #items: Set<string> | null = null;
  #within: Map<string, Fields | readonly (Fields | null)[]> | null = null;

  constructor(own: JsonObject) {
    this.own = own;
  }

  get(name: string): JsonValue | undefined {
    return Object.hasOwn(this.own, name) ? this.own[name] : undefined;
  }

  /** Takes fields, whatever they are. */
  take(...names: readonly string[]): void {
    this.#taken.push(...names);
  }

  /** Takes a field with one of these values. */
  drop(name: string, ...values: readonly (JsonValue | undefined)[]): void {
    if (values.includes(this.get(name))) this.#taken.push(name);
  }

  value(name: string): JsonValue | undefined {
    this.#taken.push(name);
    return this.get(name);
  }

  /** Takes a text. */
  text(name: string): string | undefined {
    const value = this.get(name);
    if (typeof value !== 'string') return undefined;
    this.#taken.push(name);
    return value;
  }

  /** Takes a text that is not empty. */
  name(name: string): string | undefined {
    return this.get(name) === '' ? undefined : this.text(name);
  }

  /** Takes a number from 0. */
  amount(name: string): number | undefined {
    const value = this.get(name);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined;
    this.#taken.push(name);
    return value;
  }

  /** Takes a whole number from 0. */
  count(name: string): number | undefined {
    return Number.isSafeInteger(this.get(name)) ? this.amount(name) : undefined;
  }

  object(name: string): Fields | undefined {
    const known = this.#within?.get(name);
    if (known instanceof Fields) return known;
    const value = asObject(this.get(name));
    if (value === undefined) return undefined;
    const fields = new Fields(value);
    this.#keep(name, fields);
    return fields;
  }

  /** The items of a list. Null: an item that is not an object. It stays in the rest. */
  list(name: string): readonly (Fields | null)[] {
    const own = asList(this.get(name));
    if (own === undefined) return [];
    const items = own.map((item) => {
      const fields = asObject(item);
      return fields === undefined ? null : new Fields(fields);
    });
    this.#keep(name, items);
    return items;
  }

  #keep(name: string, within: Fields | readonly (Fields | null)[]): void {
    this.#within ??= new Map();
    this.#within.set(name, within);
  }

  /** Takes one item of a list, which events of its own hold. */
  takeItem(name: string, at: number): void {
    this.#items ??= new Set();
    this.#items.add(`${name} ${at}`);
  }

  rest(): JsonObject {
    let rest: [string, JsonValue][] | null = null;
    for (const key in this.own) {
      if (this.#taken.includes(key)) continue;
      const left = this.#restOf(key);
      if (left === undefined || isNothing(left)) continue;
      rest ??= [];
      rest.push([key, left]);
    }
    return rest === null ? {} : Object.fromEntries(rest);
  }

  #restOf(key: string): JsonValue | undefined {
    const within = this.#within?.get(key);
    if (within === undefined) return this.own[key];
    if (within instanceof Fields) return within.rest();
    const own = asList(this.own[key]) ?? [];
    const items = within.map((item, at) => {
      if (this.#items?.has(`${key} ${at}`)) return null;
      const left = item === null ? (own[at] ?? null) : item.rest();
      return isNothing(left) ? null : left;
    });
    return items.some((item) => item !== null) ? items : null;
  }
}

const longestId = 112;
/** What an id has as most, before the mark of a version. */
const longestEventId = 116;
const idCharacters = /^[A-Za-z0-9._:-]+$/;

/** A text of a record as the id of an item, if it can be one and leaves room for a suffix. */
export function asItemId(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.length <= longestId && idCharacters.test(value)
    ? value
    : undefined;
}

/** An id that an event can have, for a text that is long or has other characters. */
export function fitted(id: string): string {
  if (id.length <= longestEventId && idCharacters.test(id)) return id;
  const kept = id.slice(0, 64).replace(/[^A-Za-z0-9._-]/g, '-');
  return `${kept}-${hash('sha256', id, 'hex').slice(0, 24)}`;
}

/** An item of a source, such as a message, and the events that it makes. Its first event has the fields that no event holds. */
export class RecordItem {
  readonly id: string;
  readonly fields: Fields;
  readonly #timestamp: string | null;
  readonly #links: EventLinks;
  readonly #events: NewEvent[] = [];

  constructor(id: string, timestamp: string | null, fields: Fields, links: EventLinks = {}) {
    this.id = id;
    this.fields = fields;
    this.#timestamp = timestamp;
    this.#links = links;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** The last event that is a part of prompts. */
  get lastEntry(): string | undefined {
    return this.#events.findLast(({ type }) => entryTypes.test(type))?.id;
  }

  /** Adds an event, and returns its id: that of the item, or `ID.NAME`. */
  add<T extends KnownEventType>(
    type: T,
    data: EventData<T>,
    links: EventLinks & { readonly name?: string; readonly timestamp?: string | null } = {},
  ): string {
    return this.capture(type, data as JsonObject, links);
  }

  /** Adds an event of any type. */
  capture(
    type: EventType,
    data: JsonObject,
    {
      name = '',
      timestamp = this.#timestamp,
      ...links
    }: EventLinks & { readonly name?: string; readonly timestamp?: string | null } = {},
  ): string {
    const id = fitted(name === '' ? this.id : `${this.id}.${name}`);
    this.#events.push({ id, type, timestamp, ...this.#links, ...links, data });
    return id;
  }

  /** The events. What no event of the item holds is captured, if there is no other event. Null: they cannot be recorded. */
  finish(kind: string): NewEvent[] | null {
    const rest = this.fields.rest();
    const [first, ...others] = this.#events;
    if (first === undefined) {
      if (isNothing(rest)) return [];
      this.capture(unknownEventType('system', kind), rest);
      return this.#events;
    }
    const isCaptured = isNothing(first.data) && !/^(?:agent|user|session|content|request):/.test(first.type);
    const data = isCaptured ? rest : withDetails(first.data, rest);
    const events = data === first.data ? this.#events : [{ ...first, data }, ...others];
    return events.every((event) => eventProblem(event) === null) ? (events as CapturedEvent[]) : null;
  }
}

/** Going back to another place of a tree writes nothing. The next record shows it. */
export function rewindTo(name: string, keptThrough: string | null, timestamp: string | null): RecordItem {
  const item = new RecordItem(`${name}.rewind`, timestamp, new Fields({}));
  item.add('session:rewind', { keptThrough });
  return item;
}

/** A usage without parts that are 0. Null: nothing was used. */
export function usageOf(
  parts: Readonly<Record<'input' | 'output', number | undefined>> &
    Partial<Readonly<Record<'cacheRead' | 'cacheWrite' | 'reasoning', number | undefined>>>,
): Usage | null {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = parts;
  if (input + output + cacheRead + cacheWrite === 0) return null;
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cacheRead === 0 ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
    ...(reasoning === 0 || reasoning > output ? {} : { reasoningTokens: reasoning }),
  };
}

const targets = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'absolute_path',
  'path',
  'pattern',
  'query',
  'url',
  'agent_name',
  'agent',
  'subagent_type',
  'agent_type',
  'description',
];
const longestTarget = 1_000;

/** The target of a call in one line. */
export function targetOf(input: JsonValue | undefined): { readonly target?: string } {
  const fields = asObject(input);
  if (fields === undefined) return {};
  for (const name of targets) {
    const value = fields[name];
    if (typeof value !== 'string' || !Object.hasOwn(fields, name)) continue;
    const line = firstLine(value);
    if (line !== '') return { target: line };
  }
  return {};
}

function firstLine(text: string): string {
  const start = text.trimStart();
  const end = start.indexOf('\n');
  return (end < 0 ? start : start.slice(0, end)).trimEnd().slice(0, longestTarget);
}

/** A call of a tool whose result may follow. */
export interface KnownCall {
  /** The id of its event. */
  readonly event: string;
  readonly tool: string;
  readonly target?: string;
}

const mostCalls = 2_000;

/** The latest calls of a session by their ids. `More`: what a product needs besides. */
export function recentCalls<More extends object = object>(): RecentMap<KnownCall & More> {
  return new RecentMap(mostCalls);
}
