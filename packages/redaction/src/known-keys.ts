import {
  isRedactionCounts,
  type JsonObject,
  type JsonValue,
  type RedactionCounts,
  redactionsField,
  replacedField,
} from '@hansard/events';
import { isNamedValue, type NamedKind, namedKind } from './search/named-secrets.ts';
import type { SecretSearch } from './search/secret-search.ts';

const mostKeys = 5_000;
const longestKey = 100;

/** A key without a secret. */
export interface KnownKey {
  /** What its value can be, if it looks random. Null: the key names no secret. */
  readonly namesSecret: NamedKind | null;
  /** Its last text in an event without a secret: many events repeat a folder, a branch or an id. */
  lastText: string;
}

/** What is known of keys: the same few occur in all events. */
export class KnownKeys {
  readonly #search: SecretSearch;
  readonly #kinds: ReadonlySet<string>;
  readonly #namesSecrets: boolean;
  /** By their names. */
  readonly #clean = new Map<string, KnownKey>();

  /** `kinds`: the names of all kinds that can be found. `namesSecrets`: a value can be a secret because of its key. */
  constructor(search: SecretSearch, kinds: Iterable<string>, namesSecrets: boolean) {
    this.#search = search;
    this.#kinds = new Set(kinds);
    this.#namesSecrets = namesSecrets;
  }

  /** Null: the key is not known. It can contain a secret. */
  ofClean(key: string): KnownKey | null {
    return this.#clean.get(key) ?? null;
  }

  /** Forgets the last text of every key. */
  forgetTexts(): void {
    for (const key of this.#clean.values()) key.lastText = '';
  }

  /** Remembers a key without a secret. */
  learn(key: string): void {
    if (this.#clean.has(key) || key.length > longestKey || this.#clean.size >= mostKeys) return;
    this.#clean.set(key, { namesSecret: this.namesSecret(key), lastText: '' });
  }

  namesSecret(key: string): NamedKind | null {
    return this.#namesSecrets ? namedKind(key) : null;
  }

  /** The name for the value of a key: in `{ name: 'API_KEY', value: … }`, as a container has its variables, that is the name beside it. */
  nameFor(key: string, object: JsonObject): string {
    if (key !== 'value') return key;
    const { name, key: other } = object;
    return typeof name === 'string' ? name : typeof other === 'string' ? other : key;
  }

  /**
   * The counts of redaction in the data of an event of a type, by their fields: they stay. A field with a secret in the place of a
   * kind is none of them. The names of kinds are not searched: a pattern or a value of a user can match them.
   */
  countsIn(type: unknown, data: JsonObject): Record<string, RedactionCounts> {
    const counts: Record<string, RedactionCounts> = {};
    for (const field of type === 'system:notice' ? [redactionsField, replacedField] : [redactionsField]) {
      const value = Object.hasOwn(data, field) ? data[field] : undefined;
      if (this.#areCounts(value)) counts[field] = value;
    }
    return counts;
  }

  #areCounts(value: JsonValue | undefined): value is Record<string, number> {
    return (
      isRedactionCounts(value) &&
      Object.keys(value).every((kind) => this.#kinds.has(kind) || this.#search.find(kind).length === 0)
    );
  }
}

/** Whether the value of a key that names a secret is one. */
export function isNamedSecret(value: string, kind: NamedKind | null): boolean {
  return kind !== null && isNamedValue(value, kind);
}
