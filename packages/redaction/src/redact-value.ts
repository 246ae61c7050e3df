import { isRedactionCounts, type JsonObject, type JsonValue, redactionsField } from '@hansard/events';
import type { ReplaceSecrets } from './replace-formats.ts';
import { isRandom } from './secret-checks.ts';
import { secretKeyOnly } from './secret-formats.ts';

/** Lengths of a value that is a secret because of its key. */
const shortestNamedValue = 12;
const longestNamedValue = 200;

const mostKeys = 5_000;
const longestKey = 100;

/** What is known of keys: the same few occur in all events. */
export class KnownKeys {
  readonly #replace: ReplaceSecrets;
  readonly #namesSecrets: boolean;
  /** Of each key without a secret, whether it names one. */
  readonly #clean = new Map<string, boolean>();

  /** `namesSecrets`: a value can be a secret because of its key. */
  constructor(replace: ReplaceSecrets, namesSecrets: boolean) {
    this.#replace = replace;
    this.#namesSecrets = namesSecrets;
  }

  /** Whether a key names a secret: a value that is one if it looks random. Null: the key itself can have a secret. */
  ofClean(key: string): boolean | null {
    return this.#clean.get(key) ?? this.#learn(key);
  }

  namesSecret(key: string): boolean {
    return this.#namesSecrets && secretKeyOnly.test(key);
  }

  #learn(key: string): boolean | null {
    if (key.length > longestKey || this.#clean.size >= mostKeys) return null;
    if (this.#replace(key, () => '\0') !== key) return null;
    const namesSecret = this.namesSecret(key);
    this.#clean.set(key, namesSecret);
    return namesSecret;
  }
}

/** Replaces the secrets of one value, and counts them. */
export class ValueRedaction {
  readonly #replace: ReplaceSecrets;
  readonly #keys: KnownKeys;
  #counts: Record<string, number> | null = null;

  constructor(replace: ReplaceSecrets, keys: KnownKeys) {
    this.#replace = replace;
    this.#keys = keys;
  }

  /** By kind. Null: there was none. */
  get counts(): Readonly<Record<string, number>> | null {
    return this.#counts;
  }

  text(text: string): string {
    return this.#replace(text, this.#mark);
  }

  /** The value itself if it has no secret. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.#list(value) : this.object(value);
  }

  /** The object itself if it has no secret. Two keys that become equal are numbered. */
  object(object: JsonObject): JsonObject {
    let changed: Map<string, readonly [name: string, value: JsonValue]> | null = null;
    for (const key in object) {
      const value = object[key] as JsonValue;
      if (key === redactionsField && isRedactionCounts(value)) continue;
      const namesSecret = this.#keys.ofClean(key);
      const name = namesSecret === null ? this.text(key) : key;
      const redacted =
        typeof value === 'string'
          ? this.#named(namesSecret ?? this.#keys.namesSecret(key), value)
          : this.value(value);
      if (redacted !== value || name !== key) changed = (changed ?? new Map()).set(key, [name, redacted]);
    }
    return changed === null ? object : renamed(object, changed);
  }

  readonly #mark = (kind: string): string => {
    this.#counts ??= {};
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    return `[REDACTED:${kind}]`;
  };

  /** The value of a key: a text can be a secret because of it. */
  field(key: string, value: JsonValue): JsonValue {
    return typeof value === 'string' ? this.#named(this.#keys.namesSecret(key), value) : this.value(value);
  }

  #named(namesSecret: boolean, value: string): string {
    const redacted = this.text(value);
    return namesSecret && redacted === value && isNamedSecret(value) ? this.#mark('secret-value') : redacted;
  }

  #list(list: readonly JsonValue[]): JsonValue[] {
    let changed: JsonValue[] | null = null;
    for (let index = 0; index < list.length; index += 1) {
      const value = list[index] as JsonValue;
      const redacted = this.value(value);
      if (redacted === value) continue;
      changed ??= [...list];
      changed[index] = redacted;
    }
    return changed ?? (list as JsonValue[]);
  }
}

function isNamedSecret(value: string): boolean {
  return (
    value.length >= shortestNamedValue &&
    value.length <= longestNamedValue &&
    !value.includes('[REDACTED:') &&
    !/\s/.test(value) &&
    isRandom(value)
  );
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
