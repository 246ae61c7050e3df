import type { JsonObject, JsonValue } from '@hansard/events';
import { isNamedSecret, type KnownKeys } from './known-keys.ts';
import type { SecretSearch } from './secret-search.ts';

/**
 * Whether the redaction of an object can change it. This is nearly all that redaction costs: of 4,000 events of the corpus
 * none can have a secret.
 */
export function mayHaveSecrets(object: JsonObject, search: SecretSearch, keys: KnownKeys): boolean {
  for (const key in object) {
    const value = object[key] as JsonValue;
    const namesSecret = keys.ofClean(key);
    if (namesSecret === null) return true;
    if (typeof value === 'string') {
      if (search.mayHave(value) || (namesSecret && isNamedSecret(value))) return true;
    } else if (isObject(value) && mayHaveIn(value, search, keys, namesSecret)) return true;
  }
  return false;
}

/** `namesSecret`: the key of a list names a secret. */
function mayHaveIn(
  value: JsonObject | readonly JsonValue[],
  search: SecretSearch,
  keys: KnownKeys,
  namesSecret: boolean,
): boolean {
  if (!Array.isArray(value)) return mayHaveSecrets(value as JsonObject, search, keys);
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index] as JsonValue;
    if (typeof item === 'string') {
      if (search.mayHave(item) || (namesSecret && isNamedSecret(item))) return true;
    } else if (isObject(item) && mayHaveIn(item, search, keys, false)) return true;
  }
  return false;
}

function isObject(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}
