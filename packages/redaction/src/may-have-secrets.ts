import type { JsonObject, JsonValue } from '@hansard/events';
import { isNamedSecret, type KnownKeys } from './known-keys.ts';
import type { SecretSearch } from './search/secret-search.ts';

/** Longer texts are seldom repeated. */
const longestRepeated = 200;

/**
 * Whether the redaction of an object can change it. This is nearly all that redaction costs: of 4,000 events of the corpus
 * none can have a secret. A text that its key had in an earlier event without a secret is not searched again.
 */
export function mayHaveSecrets(object: JsonObject, search: SecretSearch, keys: KnownKeys): boolean {
  search.begin();
  let isClean = false;
  try {
    isClean = !mayHaveKeys(object, search, keys) && !search.mayHave();
  } finally {
    if (!isClean) keys.forgetTexts();
  }
  return !isClean;
}

/** Whether a key of an object can have a secret, or names one that its value is. Adds the texts of the values to the search. */
function mayHaveKeys(object: JsonObject, search: SecretSearch, keys: KnownKeys): boolean {
  for (const key in object) {
    const value = object[key] as JsonValue;
    const known = keys.ofClean(key);
    if (known === null) return true;
    if (typeof value === 'string') {
      if (value === known.lastText) continue;
      if (known.namesSecret && isNamedSecret(value)) return true;
      if (value.length <= longestRepeated) known.lastText = value;
      search.add(value);
    } else if (isObject(value) && mayHaveKeysIn(value, search, keys, known.namesSecret)) return true;
  }
  return false;
}

/** `namesSecret`: the key of a list names a secret. */
function mayHaveKeysIn(
  value: JsonObject | readonly JsonValue[],
  search: SecretSearch,
  keys: KnownKeys,
  namesSecret: boolean,
): boolean {
  if (!Array.isArray(value)) return mayHaveKeys(value as JsonObject, search, keys);
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index] as JsonValue;
    if (typeof item === 'string') {
      if (namesSecret && isNamedSecret(item)) return true;
      search.add(item);
    } else if (isObject(item) && mayHaveKeysIn(item, search, keys, false)) return true;
  }
  return false;
}

function isObject(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}
