import {
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type JsonObject,
  type JsonValue,
  type RedactionCounts,
  redactionsField,
  redactionsOf,
  type TaskRecord,
} from '@hansard/events';
import { compilePatterns, type OwnPatterns } from './own-patterns.ts';
import { keptOfEnvelope, keptOfTask, redactRecord } from './redact-records.ts';
import { KnownKeys, ValueRedaction } from './redact-value.ts';
import { type ReplaceSecrets, replaceFormats } from './replace-formats.ts';
import { secretFormats } from './secret-formats.ts';

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
  readonly counts: RedactionCounts;
}

export interface RedactedValue<T> {
  readonly value: T;
  /** How many secrets of each kind were replaced. */
  readonly counts: RedactionCounts;
}

/** A secret in a value, without the secret. */
export interface SecretFinding {
  /** A JSON Pointer (RFC 6901) to the text, or to the object of a key. Keys with a secret are redacted in it. */
  readonly field: string;
  readonly kind: string;
  readonly count: number;
}

/** Replaces each secret with `[REDACTED:kind]`, in linear time. What has no secret is returned itself. Changes no argument. */
export interface Redactor {
  readonly text: (text: string) => RedactedText;
  /**
   * The same for every text of a JSON value, keys included, at any depth, and for the values of keys such as `password`. Two keys
   * that become equal are numbered: `[REDACTED:kind] (2)`.
   */
  readonly value: <T extends JsonValue>(value: T) => RedactedValue<T>;
  /**
   * The same for the data of an event, with the counts added in its field `redactions`. The own fields of the event, such as ids,
   * stay.
   */
  readonly event: <E extends { readonly data: JsonObject }>(event: E) => E;
  /** The same for an envelope, or a change to one. Ids, times and choices stay. */
  readonly envelope: <T extends DispatchEnvelope | EnvelopeUpdates>(envelope: T) => RedactedValue<T>;
  /** The same for a task record. Its slug and time stay. */
  readonly task: (task: TaskRecord) => RedactedValue<TaskRecord>;
  /** The secrets in every text of a value, keys included, in the order of the value. */
  readonly find: (value: JsonValue) => SecretFinding[];
}

/** Shorter values occur in texts by chance. */
const shortestValue = 8;

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
  const replaceKnown = replaceFormats(formats ? secretFormats : []);

  const replaceAll: ReplaceSecrets = (text, mark) => {
    let replaced = text;
    for (const pattern of own) replaced = pattern.replace(replaced, mark);
    if (replaced.length < shortestValue) return replaced;
    for (const { kind, value } of values)
      if (replaced.includes(value)) replaced = replaced.replaceAll(value, () => mark(kind));
    return replaceKnown(replaced, mark);
  };
  const replace = own.length + values.length === 0 ? replaceKnown : replaceAll;
  const keys = new KnownKeys(replace, formats);
  const begin = () => new ValueRedaction(replace, keys);
  const record = <T extends object>(fields: T, kept: ReadonlySet<string>): RedactedValue<T> => {
    const redaction = begin();
    return { value: redactRecord(fields, kept, redaction), counts: redaction.counts ?? {} };
  };

  const redactText = (text: string): RedactedText => {
    const redaction = begin();
    return { text: redaction.text(text), counts: redaction.counts ?? {} };
  };
  const findIn = (text: string, field: string): SecretFinding[] =>
    Object.entries(redactText(text).counts).map(([kind, count]) => ({ field, kind, count }));

  const find = (value: JsonValue, field: string): SecretFinding[] => {
    if (typeof value === 'string') return findIn(value, field);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, one]) => {
      const step = redactText(key).text.replaceAll('~', '~0').replaceAll('/', '~1');
      const place = `${field}/${step}`;
      return [...findIn(key, field), ...findField(key, one as JsonValue, place)];
    });
  };

  /** A text can be a secret because of its key. */
  const findField = (key: string, value: JsonValue, field: string): SecretFinding[] => {
    if (typeof value !== 'string') return find(value, field);
    const redaction = begin();
    redaction.object({ [key]: value });
    const ofKey = redactText(key).counts;
    return Object.entries(redaction.counts ?? {})
      .map(([kind, count]) => ({ field, kind, count: count - (ofKey[kind] ?? 0) }))
      .filter(({ count }) => count > 0);
  };

  return {
    text: redactText,
    value: <T extends JsonValue>(value: T) => {
      const redaction = begin();
      return { value: redaction.value(value) as T, counts: redaction.counts ?? {} };
    },
    event: (event) => {
      const redaction = begin();
      const data = redaction.object(event.data);
      return redaction.counts === null ? event : { ...event, data: withCounts(data, redaction.counts) };
    },
    envelope: (envelope) => record(envelope, keptOfEnvelope),
    task: (task) => record(task, keptOfTask),
    find: (value) => find(value, ''),
  };
}

/** Adds counts to those that the data has. A field of the same name that has no counts stays, and the counts are left out. */
function withCounts(data: JsonObject, counts: RedactionCounts): JsonObject {
  const before = redactionsOf(data);
  if (before === null && Object.hasOwn(data, redactionsField)) return data;
  const sums: Record<string, number> = { ...before };
  for (const [kind, count] of Object.entries(counts)) sums[kind] = (sums[kind] ?? 0) + count;
  const { [redactionsField]: _, ...rest } = data;
  return { ...rest, [redactionsField]: sums };
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
