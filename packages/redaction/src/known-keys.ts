import { isRedactionCounts, type JsonValue } from '@hansard/events';
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
  readonly #formats: SecretSearch;
  readonly #namesSecrets: boolean;
  /** Of each key without a secret, whether it names one. */
  readonly #clean = new Map<string, boolean>();

  /** `formats`: the known ones. `namesSecrets`: a value can be a secret because of its key. */
  constructor(search: SecretSearch, formats: SecretSearch, namesSecrets: boolean) {
    this.#search = search;
    this.#formats = formats;
    this.#namesSecrets = namesSecrets;
  }

  /** Whether a key names a secret: a value that is one if it looks random. Null: the key itself can have a secret. */
  ofClean(key: string): boolean | null {
    return this.#clean.get(key) ?? this.#learn(key);
  }

  namesSecret(key: string): boolean {
    return this.#namesSecrets && secretKeyOnly.test(key);
  }

  /** Whether a field `redactions` holds counts, and no secret in the place of a kind. */
  areCounts(value: JsonValue | undefined): boolean {
    return isRedactionCounts(value) && !Object.keys(value).some((kind) => this.#formats.mayHave(kind));
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
