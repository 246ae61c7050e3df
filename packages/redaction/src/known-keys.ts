import {
  isRedactionCounts,
  type JsonObject,
  type JsonValue,
  type RedactionCounts,
  redactionsField,
  replacedField,
} from '@hansard/events';
import { isRandom } from './secret-checks.ts';
import { secretKeyOnly } from './secret-formats.ts';
import type { SecretSearch } from './secret-search.ts';

/** Lengths of a value that is a secret because of its key. */
const shortestNamedValue = 12;
const longestNamedValue = 200;

const mostKeys = 5_000;
const longestKey = 100;

/** What is known of keys: the same few occur in all events. */
export class KnownKeys {
  readonly #search: SecretSearch;
  readonly #kinds: ReadonlySet<string>;
  readonly #namesSecrets: boolean;
  /** Of each key without a secret, whether it names one. */
  readonly #clean = new Map<string, boolean>();

  /** `kinds`: the names of all kinds that can be found. `namesSecrets`: a value can be a secret because of its key. */
  constructor(search: SecretSearch, kinds: Iterable<string>, namesSecrets: boolean) {
    this.#search = search;
    this.#kinds = new Set(kinds);
    this.#namesSecrets = namesSecrets;
  }

  /** Whether a key names a secret: a value that is one if it looks random. Null: the key itself can have a secret. */
  ofClean(key: string): boolean | null {
    return this.#clean.get(key) ?? this.#learn(key);
  }

  namesSecret(key: string): boolean {
    return this.#namesSecrets && secretKeyOnly.test(key);
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
      Object.keys(value).every((kind) => this.#kinds.has(kind) || !this.#search.mayHave(kind))
    );
  }

  #learn(key: string): boolean | null {
    if (key.length > longestKey || this.#clean.size >= mostKeys) return null;
    if (this.#search.mayHave(key)) return null;
    const namesSecret = this.namesSecret(key);
    this.#clean.set(key, namesSecret);
    return namesSecret;
  }
}

/** Whether the value of a key that names a secret is one. */
export function isNamedSecret(value: string): boolean {
  return (
    value.length >= shortestNamedValue &&
    value.length <= longestNamedValue &&
    !value.includes('[REDACTED:') &&
    !/\s/.test(value) &&
    isRandom(value)
  );
}
