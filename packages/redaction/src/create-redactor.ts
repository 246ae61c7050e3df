import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import { compilePatterns, type OwnPatterns } from './own-patterns.ts';
import { replaceFormats } from './replace-formats.ts';
import { isRandom } from './secret-checks.ts';
import { secretFormats, secretKeyOnly } from './secret-formats.ts';

export interface RedactorOptions {
  /** Whether the known formats of secrets are replaced. Absent: true. */
  readonly formats?: boolean;
  /** Names of environment variables whose values are secrets. An absent one, or one of fewer than 8 characters, is passed over. */
  readonly environment?: readonly string[];
  /**
   * Patterns of your own: regular expressions of RE2, by the kind of secret that each finds. The group `secret` of one is the
   * secret, or else the whole match, of at most 4,096 characters. A text in which one matches more than 100 times, and
   * more than once for each 1,000 characters, is replaced as a whole.
   */
  readonly patterns?: OwnPatterns;
  /** Absent: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface RedactedText {
  readonly text: string;
  /** How many secrets of each kind were replaced. */
  readonly counts: Readonly<Record<string, number>>;
}

/** A secret in a value, without the secret. */
export interface SecretFinding {
  /** A JSON Pointer (RFC 6901) to the text, or to the object of a key. Keys with a secret are redacted in it. */
  readonly field: string;
  readonly kind: string;
  readonly count: number;
}

export interface Redactor {
  /** Replaces each secret with `[REDACTED:kind]`. Text without a secret is returned as it is. Takes linear time. */
  text(text: string): RedactedText;
  /**
   * The same for every text in the data of an event, keys included, at any depth. The event itself if it has no secret. Its own
   * fields, such as ids, stay. Two keys that become equal are numbered: `[REDACTED:kind] (2)`.
   */
  readonly event: (event: CapturedEvent) => CapturedEvent;
  /** The secrets in every text of a value, keys included, in the order of the value. */
  readonly find: (value: JsonValue) => SecretFinding[];
}

/** Shorter values occur in texts by chance. */
const shortestValue = 8;
/** Lengths of a value that is a secret because of its key. */
const shortestNamedValue = 12;
const longestNamedValue = 200;

interface NamedValue {
  readonly kind: string;
  readonly value: string;
}

/** A redactor for `redact` of `openDispatchStore`, or for any text. @throws REDACTION_PATTERN_INVALID */
export function createRedactor({
  formats = true,
  environment = [],
  patterns = {},
  env = process.env,
}: RedactorOptions = {}): Redactor {
  const values = environment.flatMap((name) => formsOf(name, env[name] ?? ''));
  // The longest first: one can be a part of another.
  values.sort((a, b) => b.value.length - a.value.length);
  const own = compilePatterns(patterns);
  const known = formats ? secretFormats : [];

  const redactText = (text: string): RedactedText => {
    const counts: Record<string, number> = {};
    const count = (kind: string) => {
      counts[kind] = (counts[kind] ?? 0) + 1;
      return `[REDACTED:${kind}]`;
    };
    let redacted = text;
    for (const pattern of own) redacted = pattern.replace(redacted, count);
    if (redacted.length < shortestValue) return { text: redacted, counts };
    for (const { kind, value } of values)
      if (redacted.includes(value)) redacted = redacted.replaceAll(value, () => count(kind));
    return { text: replaceFormats(redacted, known, count), counts };
  };

  const redactValue = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return redactText(value).text;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map(redactValue);
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    return redactObject(value as JsonObject);
  };

  const isNamedSecret = (key: string, value: unknown) =>
    formats &&
    typeof value === 'string' &&
    value.length >= shortestNamedValue &&
    value.length <= longestNamedValue &&
    !value.includes('[REDACTED:') &&
    secretKeyOnly.test(key) &&
    !/\s/.test(value) &&
    redactText(value).text === value &&
    isRandom(value);

  const redactObject = (object: JsonObject): JsonObject => {
    const entries: [string, JsonValue][] = [];
    const keys = new Set<string>();
    let isChanged = false;
    for (const [key, value] of Object.entries(object)) {
      const name = unused(redactText(key).text, keys);
      const redacted = isNamedSecret(key, value)
        ? '[REDACTED:secret-value]'
        : redactValue(value as JsonValue);
      keys.add(name);
      entries.push([name, redacted]);
      isChanged ||= name !== key || redacted !== value;
    }
    return isChanged ? Object.fromEntries(entries) : object;
  };

  const findIn = (text: string, field: string): SecretFinding[] =>
    Object.entries(redactText(text).counts).map(([kind, count]) => ({ field, kind, count }));

  const find = (value: JsonValue, field: string): SecretFinding[] => {
    if (typeof value === 'string') return findIn(value, field);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, one]) => {
      const step = redactText(key).text.replaceAll('~', '~0').replaceAll('/', '~1');
      const place = `${field}/${step}`;
      const named = isNamedSecret(key, one) ? [{ field: place, kind: 'secret-value', count: 1 }] : null;
      return [...findIn(key, field), ...(named ?? find(one as JsonValue, place))];
    });
  };

  return {
    text: redactText,
    find: (value) => find(value, ''),
    event: (event) => {
      const data = redactObject(event.data as JsonObject);
      return data === event.data ? event : ({ ...event, data } as CapturedEvent);
    },
  };
}

/** The value as it is, in a JSON text, and in a URL. */
function formsOf(name: string, value: string): NamedValue[] {
  if (value.length < shortestValue) return [];
  const forms = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ]);
  return [...forms].map((form) => ({ kind: `env-${name}`, value: form }));
}

function unused(name: string, keys: ReadonlySet<string>): string {
  if (!keys.has(name)) return name;
  let number = 2;
  while (keys.has(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}
