import { addRedactions, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { isNamedSecret, type KnownKeys } from './known-keys.ts';
import type { NamedKind } from './search/named-secrets.ts';
import { distinctSecrets, markerOf, replaceSecrets, type SecretSearch } from './search/secret-search.ts';

/** Replaces the secrets of one value, and counts them. */
export class ValueRedaction {
  readonly #search: SecretSearch;
  readonly #keys: KnownKeys;
  #counts: Record<string, number> | null = null;

  constructor(search: SecretSearch, keys: KnownKeys) {
    this.#search = search;
    this.#keys = keys;
  }

  /** By kind. Null: there was none. */
  get counts(): Readonly<Record<string, number>> | null {
    return this.#counts;
  }

  text(text: string): string {
    const secrets = distinctSecrets(text, this.#search.find(text));
    return secrets.length === 0 ? text : replaceSecrets(text, secrets, this.#mark);
  }

  /** The value itself if it has no secret. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.#list(value, null) : this.object(value);
  }

  /** The data of an event of a type: the counts of what was replaced before stay. */
  data(type: unknown, data: JsonObject): JsonObject {
    const counts = this.#keys.countsIn(type, data);
    const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(counts, key)));
    const redacted = this.object(rest);
    return redacted === rest ? data : { ...redacted, ...counts };
  }

  /** The object itself if it has no secret. Two keys that become equal are numbered. */
  object(object: JsonObject): JsonObject {
    let changed: Map<string, readonly [name: string, value: JsonValue]> | null = null;
    for (const key in object) {
      const value = object[key] as JsonValue;
      const name = this.text(key);
      if (name === key) this.#keys.learn(key);
      const redacted = this.field(this.#keys.nameFor(key, object), value);
      if (redacted !== value || name !== key) changed = (changed ?? new Map()).set(key, [name, redacted]);
    }
    return changed === null ? object : renamed(object, changed);
  }

  /** The value of a key: a text, or one in a list, can be a secret because of it. */
  field(key: string, value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#named(this.#keys.namesSecret(key), value);
    return Array.isArray(value) ? this.#list(value, this.#keys.namesSecret(key)) : this.value(value);
  }

  readonly #mark = (kind: string): string => {
    this.#counts ??= {};
    addRedactions(this.#counts, { [kind]: 1 });
    return markerOf(kind);
  };

  #named(namesSecret: NamedKind | null, value: string): string {
    const redacted = this.text(value);
    return redacted === value && isNamedSecret(value, namesSecret) ? this.#mark('secret-value') : redacted;
  }

  #list(list: readonly JsonValue[], namesSecret: NamedKind | null): JsonValue[] {
    const items = redactKeyLines(list, this.#search, this.#mark) ?? list;
    let changed: JsonValue[] | null = items === list ? null : [...items];
    for (let index = 0; index < items.length; index += 1) {
      const value = items[index] as JsonValue;
      const redacted = typeof value === 'string' ? this.#named(namesSecret, value) : this.value(value);
      if (redacted === value) continue;
      changed ??= [...items];
      changed[index] = redacted;
    }
    return changed ?? (list as JsonValue[]);
  }
}

function renamed(
  object: JsonObject,
  changed: ReadonlyMap<string, readonly [name: string, value: JsonValue]>,
): JsonObject {
  const names = new Set<string>();
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue] => {
    const [name, redacted] = changed.get(key) ?? [key, value as JsonValue];
    const own = unused(name, names);
    names.add(own);
    return [own, redacted];
  });
  return Object.fromEntries(entries);
}

function unused(name: string, names: ReadonlySet<string>): string {
  if (!names.has(name)) return name;
  let number = 2;
  while (names.has(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}

/** The kind of secret that can have its lines in several items of a list, such as those of a patch. */
const kind = 'private-key';
const firstLine = 'PRIVATE KEY';

/**
 * The items of a list with their parts of each private key replaced by what `mark` returns. Null: no key begins in one item and continues
 * in another.
 */
export function redactKeyLines(
  list: readonly JsonValue[],
  search: SecretSearch,
  mark: (kind: string) => string,
): JsonValue[] | null {
  if (!list.some((item) => typeof item === 'string' && item.includes(firstLine))) return null;
  const lines = list.map((item) => (typeof item === 'string' ? item : ''));
  const text = lines.join('\n');
  const found = search
    .find(text)
    .filter((one) => one.kind === kind && text.slice(one.start, one.end).includes('\n'));
  const keys = distinctSecrets(text, found);
  let [start, hasLines] = [0, false];
  const redacted = list.map((item, index) => {
    const from = start;
    const end = from + (lines[index] as string).length;
    start = end + 1;
    if (typeof item !== 'string') return item;
    const parts = keys.filter(
      (key) => key.start < end && key.end > from && (key.start < from || key.end > end),
    );
    hasLines ||= parts.length > 0;
    return parts.length === 0 ? item : replaceSecrets(text, parts, mark, from, end);
  });
  return hasLines ? redacted : null;
}

/** Ids, times and choices, on which links and lists depend. */
export const keptOfEnvelope: ReadonlySet<string> = new Set([
  'dispatchId',
  'taskSlug',
  'parentDispatchId',
  'startedAt',
  'completedAt',
  'status',
  'fidelity',
  // Ids of events, agents and messages.
  'folded',
]);
/** Without them, a letter would reach nobody. */
export const keptOfLetter: ReadonlySet<string> = new Set(['from', 'taskDir', 'agentId']);
export const keptOfTask: ReadonlySet<string> = new Set(['slug', 'created']);

/** A record without secrets in its fields, except those that are kept. The record itself if it has none. */
export function redactRecord<T extends object>(
  record: T,
  kept: ReadonlySet<string>,
  redaction: ValueRedaction,
): T {
  const isKept = ([key]: [string, unknown]) => kept.has(key);
  const { letter, ...others } = record as { readonly letter?: object };
  const isOfEnvelope = kept === keptOfEnvelope && isPlainObject(letter);
  const fields = Object.entries(isOfEnvelope ? others : record);
  const redacted = redaction.object(
    Object.fromEntries(fields.filter((field) => !isKept(field))) as JsonObject,
  );
  const ofLetter = isOfEnvelope ? { letter: redactRecord(letter, keptOfLetter, redaction) } : {};
  return redaction.counts === null
    ? record
    : ({ ...Object.fromEntries(fields.filter(isKept)), ...redacted, ...ofLetter } as T);
}

/** The event without the encoded bytes of a content, in which no pattern is searched; otherwise the same object. */
export function withoutBytes<E extends { readonly data: JsonObject }>(event: E): E {
  if ((event as { readonly type?: unknown }).type !== 'content:stored' || event.data.base64 === undefined)
    return event;
  const { base64: _, ...data } = event.data;
  return { ...event, data };
}
