import {
  addRedactions,
  type CapturedEvent,
  eventFields,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  type RedactionCounts,
} from '@hansard/events';
import { isReadableAs, mediaPartsIn } from '@hansard/events/plain';
import { isNamedSecret, type KnownKeys } from './known-keys.ts';
import { keptOfEnvelope, keptOfLetter, keptOfTask, redactKeyLines, withoutBytes } from './redact-value.ts';
import type { NamedKind } from './search/named-secrets.ts';
import type { SecretSearch } from './search/secret-search.ts';

/** A secret in a value, without the secret. */
export interface SecretFinding {
  /** A JSON Pointer (RFC 6901) to the text, or to the object of a key. Keys with a secret are redacted in it. */
  readonly field: string;
  readonly kind: string;
  readonly count: number;
}

/** A secret in an event, an envelope or a task record. */
export interface RecordFinding extends SecretFinding {
  /** Whether redaction keeps the field, so that the secret stays: an id, a link, a type, a time or a choice. */
  readonly isKept: boolean;
}

export type RecordKind = 'event' | 'envelope' | 'task';

/** The fields of each kind of record that redaction keeps. */
const keptFields: Readonly<Record<RecordKind, ReadonlySet<string>>> = {
  event: new Set(Object.keys(eventFields)),
  envelope: keptOfEnvelope,
  task: keptOfTask,
};

/** Finds the secrets in values, and where they are. */
export class SecretFinder {
  readonly #search: SecretSearch;
  readonly #keys: KnownKeys;
  readonly #redact: (text: string) => { readonly text: string; readonly counts: RedactionCounts };

  constructor(
    search: SecretSearch,
    keys: KnownKeys,
    redact: (text: string) => { readonly text: string; readonly counts: RedactionCounts },
  ) {
    this.#search = search;
    this.#keys = keys;
    this.#redact = redact;
  }

  find(value: JsonValue, field = ''): SecretFinding[] {
    if (typeof value === 'string') return this.#inText(value, field);
    if (typeof value !== 'object' || value === null) return [];
    if (Array.isArray(value)) return this.#inList(value, field, null);
    const object = value as JsonObject;
    return Object.entries(object).flatMap(([key, one]) =>
      this.#inEntry(key, one as JsonValue, field, this.#keys.nameFor(key, object)),
    );
  }

  /** The counts of redaction are not searched: they stay. */
  findInRecord(record: object, of: RecordKind): RecordFinding[] {
    const whole = of === 'event' ? withoutBytes(record as CapturedEvent) : record;
    return Object.entries(whole as Record<string, JsonValue>).flatMap(([key, value]) => {
      if (of === 'envelope' && key === 'letter' && isPlainObject(value))
        return this.#inLetter(value as JsonObject);
      const isKept = keptFields[of].has(key);
      const searched = of === 'event' && key === 'data' ? this.#withoutCounts(record, value) : value;
      return this.#inEntry(key, searched, '').map((finding) => ({ ...finding, isKept }));
    });
  }

  keptIn(record: object, of: RecordKind): RedactionCounts {
    const counts: Record<string, number> = {};
    const { letter } = record as { readonly letter?: JsonValue };
    if (of === 'envelope' && isPlainObject(letter))
      for (const { kind, count, isKept } of this.#inLetter(letter as JsonObject))
        if (isKept) addRedactions(counts, { [kind]: count });
    for (const key of keptFields[of]) {
      const value = (record as JsonObject)[key];
      // Nearly all are texts without a secret.
      if (value === undefined || (typeof value === 'string' && this.#search.find(value).length === 0))
        continue;
      for (const { kind, count } of this.#inField(key, value, '')) addRedactions(counts, { [kind]: count });
    }
    return counts;
  }

  #inLetter(letter: JsonObject): RecordFinding[] {
    return Object.entries(letter).flatMap(([key, value]) =>
      this.#inEntry(key, value as JsonValue, '/letter').map((finding) => ({
        ...finding,
        isKept: keptOfLetter.has(key),
      })),
    );
  }

  #withoutCounts(event: object, data: JsonValue): JsonValue {
    if (!isPlainObject(data)) return data;
    const counts = this.#keys.countsIn((event as { readonly type?: unknown }).type, data as JsonObject);
    return Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(counts, key)));
  }

  #inText(text: string, field: string): SecretFinding[] {
    return Object.entries(this.#redact(text).counts).map(([kind, count]) => ({ field, kind, count }));
  }

  #inEntry(key: string, value: JsonValue, field: string, name = key): SecretFinding[] {
    const step = this.#redact(key).text.replaceAll('~', '~0').replaceAll('/', '~1');
    return [...this.#inText(key, field), ...this.#inField(name, value, `${field}/${step}`)];
  }

  /** A text can be a secret because of its key. */
  #inField(key: string, value: JsonValue, field: string): SecretFinding[] {
    if (Array.isArray(value)) return this.#inList(value, field, this.#keys.namesSecret(key));
    if (typeof value !== 'string') return this.find(value, field);
    return this.#inNamed(value, field, this.#keys.namesSecret(key));
  }

  #inNamed(text: string, field: string, namesSecret: NamedKind | null): SecretFinding[] {
    const found = this.#inText(text, field);
    const isNamed = found.length === 0 && isNamedSecret(text, namesSecret);
    return isNamed ? [{ field, kind: 'secret-value', count: 1 }] : found;
  }

  #inList(list: readonly JsonValue[], field: string, namesSecret: NamedKind | null): SecretFinding[] {
    let parts = 0;
    const countPart = () => {
      parts += 1;
      return '';
    };
    const lines = redactKeyLines(list, this.#search, countPart);
    const items = list.flatMap((item, index) => {
      const place = `${field}/${index}`;
      return typeof item === 'string' ? this.#inNamed(item, place, namesSecret) : this.find(item, place);
    });
    return lines === null ? items : [{ field, kind: 'private-key', count: parts }, ...items];
  }
}

/** An image, a document or a sound of a log. No pattern reads its bytes, so a secret in it is neither found nor replaced. */
export interface UnreadContent {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** As the first event that names it states it. Null: no event does. */
  readonly mediaType: string | null;
  /** The position of its bytes, and those of the events that name it. */
  readonly position: number;
  readonly namedBy: readonly number[];
}

/** Finds the contents that no pattern reads, in the events of one dispatch in append order. Removed contents are not among them. */
export class UnreadContents {
  readonly #found = new Map<
    string,
    UnreadContent & { mediaType: string | null; readonly namedBy: number[] }
  >();

  get all(): readonly UnreadContent[] {
    return [...this.#found.values()];
  }

  add(event: CapturedEvent, position: number): void {
    if (isReadableAs(event, 'content:stored')) {
      const { sha256, size, base64, leftOut } = event.data as typeof event.data & { leftOut?: unknown };
      // A reader that did not ask for the bytes has no `base64`, and a narrative says that it was left out.
      const hasBytes = base64 === undefined ? leftOut === undefined : base64 !== '';
      if (hasBytes) this.#found.set(sha256, { sha256, size, mediaType: null, position, namedBy: [] });
      return;
    }
    if (this.#found.size === 0) return;
    for (const { sha256 = '', mediaType } of mediaPartsIn(event.data)) {
      const content = this.#found.get(sha256);
      if (content === undefined) continue;
      content.mediaType ??= mediaType ?? null;
      if (content.namedBy.at(-1) !== position) content.namedBy.push(position);
    }
  }
}
