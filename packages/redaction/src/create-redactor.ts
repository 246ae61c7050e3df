import {
  addRedactions,
  type CapturedEvent,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type JsonObject,
  type JsonValue,
  otherFieldsOf,
  type RedactionCounts,
  redactionsField,
  redactionsOf,
  type TaskRecord,
  withoutOtherFields,
} from '@hansard/events';
import { type RecordFinding, type RecordKind, SecretFinder, type SecretFinding } from './find-secrets.ts';
import { isNamedSecret, KnownKeys } from './known-keys.ts';
import { keptOfEnvelope, keptOfTask, redactRecord, ValueRedaction, withoutBytes } from './redact-value.ts';
import { namedFinders, searchFormats } from './search/format-search.ts';
import type { NamedKind } from './search/named-secrets.ts';
import { compilePatterns, type OwnPattern, type OwnPatterns } from './search/own-patterns.ts';
import { secretFormats } from './search/secret-formats.ts';
import { markersIn, type SecretRange, type SecretSearch } from './search/secret-search.ts';

/** Longer texts are seldom repeated. */
const longestRepeated = 200;

export interface RedactorOptions {
  /** Whether the known formats of secrets are replaced. Absent: true. */
  readonly formats?: boolean;
  /** Names of environment variables whose values are secrets. An absent one, or one of fewer than 8 characters, is ignored. */
  readonly environment?: readonly string[];
  /**
   * Patterns of your own: regular expressions of RE2, by the kind of secret that each finds. The group `secret` of one is the
   * secret, or else the whole match, of at most 4,096 characters. A text in which one matches more than 100 times, and
   * more than once for each 1,000 characters, is replaced as a whole.
   */
  readonly patterns?: OwnPatterns;
  /** The digests (SHA-256) of contents whose bytes are removed. What names them stays. */
  readonly contents?: readonly string[];
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
   * stay. The bytes of a content are not searched: they are removed if `contents` names it.
   */
  readonly event: <E extends { readonly data: JsonObject }>(event: E) => E;
  /** The same for an envelope, or a change to one. Ids, times and choices stay. */
  readonly envelope: <T extends DispatchEnvelope | EnvelopeUpdates>(envelope: T) => RedactedValue<T>;
  /** The same for a task record. Its slug and time stay. */
  readonly task: (task: TaskRecord) => RedactedValue<TaskRecord>;
  /** The secrets in every text of a value, keys included, in the order of the value. */
  readonly find: (value: JsonValue) => SecretFinding[];
  /**
   * The same for an event, an envelope or a task record, and whether `event`, `envelope` and `task` keep the field. Their counts in the
   * data of an event are not searched.
   */
  readonly findInRecord: (record: object, of: RecordKind) => RecordFinding[];
  /** How many secrets of each kind the fields of a record have that `event`, `envelope` and `task` keep. */
  readonly keptIn: (record: object, of: RecordKind) => RedactionCounts;
  /**
   * How many characters a secret that has no known format can have: those of the longest value of a variable. Infinity with patterns of your
   * own: what they replace can depend on the whole text.
   */
  readonly reach: number;
}

/** Of bytes that were removed. */
const contentKind = 'content';

/** Those of the formats, and of a value that is a secret because of its key. */
const formatKinds: readonly string[] = [...secretFormats.map(({ kind }) => kind), 'secret-value', 'cookie'];

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
  contents = [],
  env = process.env,
}: RedactorOptions = {}): Redactor {
  const values = environment.flatMap((name) => formsOf(name, env[name] ?? ''));
  const own = compilePatterns(patterns);
  const known = formats ? searchFormats(secretFormats, namedFinders) : searchFormats([]);
  const search = own.length + values.length === 0 ? known : withOwn(known, own, values);
  const kinds = [...formatKinds, ...Object.keys(patterns), ...environment.map(kindOfVariable), contentKind];
  const keys = new KnownKeys(search, kinds, formats);
  const removed = new Set(contents);
  const begin = () => new ValueRedaction(search, keys);
  const record = <T extends object>(fields: T, kept: ReadonlySet<string>): RedactedValue<T> => {
    const redaction = begin();
    return { value: redactRecord(fields, kept, redaction), counts: redaction.counts ?? {} };
  };

  const redactText = (text: string): RedactedText => {
    const redaction = begin();
    return { text: redaction.text(text), counts: redaction.counts ?? {} };
  };
  const redactEvent = <E extends { readonly data: JsonObject }>(event: E): E => {
    const others = otherFieldsOf(event);
    const isClean = !mayHaveSecrets(event.data, search, keys);
    if (isClean && (others === null || !mayHaveSecrets(others, search, keys))) return event;
    const redaction = begin();
    const data = redaction.data((event as { readonly type?: unknown }).type, event.data);
    const fields = others === null ? {} : redaction.object(others);
    if (redaction.counts === null) return event;
    return { ...withoutOtherFields(event), ...fields, data: withCounts(data, redaction.counts) };
  };
  const finder = new SecretFinder(search, keys, redactText);

  return {
    text: redactText,
    value: <T extends JsonValue>(value: T) => {
      const redaction = begin();
      return { value: redaction.value(value) as T, counts: redaction.counts ?? {} };
    },
    event: (event) => {
      if (event.data.base64 === undefined) return redactEvent(event);
      const searched = withoutBytes(event);
      if (searched === event) return redactEvent(event);
      const redacted = redactEvent(searched);
      const { base64 } = event.data;
      if (base64 !== '' && removed.has(String(event.data.sha256)))
        return {
          ...redacted,
          data: withCounts({ ...redacted.data, base64: '' }, { [contentKind]: 1 }),
        };
      return redacted === searched ? event : { ...redacted, data: { ...redacted.data, base64 } };
    },
    envelope: (envelope) => record(envelope, keptOfEnvelope),
    task: (task) => record(task, keptOfTask),
    find: (value) => finder.find(value),
    findInRecord: (record, of) => finder.findInRecord(record, of),
    keptIn: (record, of) => finder.keptIn(record, of),
    reach:
      own.length > 0 ? Number.POSITIVE_INFINITY : Math.max(0, ...values.map(({ value }) => value.length)),
  };
}

/** Adds counts to those that the data has. A field of the same name that has no counts stays, and the counts are left out. */
function withCounts(data: JsonObject, counts: RedactionCounts): JsonObject {
  const before = redactionsOf(data);
  if (before === null && Object.hasOwn(data, redactionsField)) return data;
  const sums: Record<string, number> = { ...before };
  addRedactions(sums, counts);
  const { [redactionsField]: _, ...rest } = data;
  return { ...rest, [redactionsField]: sums };
}

/** Searches for the secrets of the formats, and for those of a user. */
function withOwn(
  known: SecretSearch,
  own: readonly OwnPattern[],
  values: readonly NamedValue[],
): SecretSearch {
  let hasOwn = false;
  return {
    find: (text) => [
      ...own.flatMap((pattern) => pattern(text)),
      ...values.flatMap((value) => rangesOf(text, value)),
      ...known.find(text),
    ],
    begin() {
      hasOwn = false;
      known.begin();
    },
    add(text) {
      hasOwn ||=
        values.some(({ value }) => text.includes(value)) || own.some((pattern) => pattern(text).length > 0);
      if (!hasOwn) known.add(text);
    },
    mayHave: () => hasOwn || known.mayHave(),
  };
}

/** Where a value is in a text; overlapping places are one. */
function rangesOf(text: string, { kind, value }: NamedValue): SecretRange[] {
  const ranges: SecretRange[] = [];
  for (let start = text.indexOf(value); start >= 0; start = text.indexOf(value, start + 1)) {
    const last = ranges.at(-1);
    const joins = last !== undefined && start < last.end;
    if (joins) ranges.pop();
    ranges.push({ start: joins ? last.start : start, end: start + value.length, kind });
  }
  return ranges;
}

/** How deep JSON texts are written in JSON texts. */
const jsonLevels = 3;

/** The value as it is, in JSON texts, and in a URL. */
function formsOf(name: string, value: string): NamedValue[] {
  if (value.length < shortestValue) return [];
  const forms = new Set([value, encodeURIComponent(value.toWellFormed())]);
  for (let [level, form] = [0, value]; level < jsonLevels; level += 1) {
    form = JSON.stringify(form).slice(1, -1);
    forms.add(form);
  }
  return [...forms].map((form) => ({ kind: kindOfVariable(name), value: form }));
}

function kindOfVariable(name: string): string {
  return `env-${name}`;
}

/**
 * Whether the redaction of an object can change it. This is nearly all that redaction costs: of 4,000 events of the corpus
 * none can have a secret. A text that its key had in an earlier event without a secret is not searched again.
 */
function mayHaveSecrets(object: JsonObject, search: SecretSearch, keys: KnownKeys): boolean {
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
      if (isNamedSecret(value, known.namesSecret)) return true;
      if (key === 'value' && isNamedSecret(value, keys.namesSecret(keys.nameFor(key, object)))) return true;
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
  namesSecret: NamedKind | null,
): boolean {
  if (!Array.isArray(value)) return mayHaveKeys(value as JsonObject, search, keys);
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index] as JsonValue;
    if (typeof item === 'string') {
      if (isNamedSecret(item, namesSecret)) return true;
      search.add(item);
    } else if (isObject(item) && mayHaveKeysIn(item, search, keys, null)) return true;
  }
  return false;
}

function isObject(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}

/** Whether a text holds the marker of a redaction. */
function hasMarker(text: string): boolean {
  return markersIn(text).length > 0;
}

/**
 * Whether an event differs from a stored one only in what was redacted: a text that the redactor changes in the stored event, or
 * a text with a marker on both sides. So a log that is imported again under newer patterns has no conflict.
 */
export function differsInSecretsOnly(
  stored: CapturedEvent,
  event: CapturedEvent,
  redactor: Pick<Redactor, 'event'>,
): boolean {
  const { data: storedData, ...storedFields } = redactor.event(stored);
  const { data, ...fields } = event;
  return (
    isSame(storedFields as unknown as JsonObject, fields as unknown as JsonObject) &&
    isSame(withoutCounts(storedData), withoutCounts(data))
  );
}

/** Counts of secrets and, in a narrative, of omitted characters differ where markers do. */
function withoutCounts({ [redactionsField]: _, leftOut, ...data }: JsonObject): JsonObject {
  const omitted = typeof leftOut === 'object' && leftOut !== null ? Object.keys(leftOut) : (leftOut ?? null);
  return { ...data, leftOut: omitted };
}

/** Equal, with the order of keys, but for texts with a marker on both sides. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one === 'string' && typeof other === 'string')
    return one === other || (hasMarker(one) && hasMarker(other));
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [Object.entries(one), Object.entries(other)];
  return (
    ours.length === theirs.length &&
    ours.every(([key, value], index) => {
      const [otherKey = '', otherValue] = theirs[index] ?? [];
      return isSame(key, otherKey) && isSame(value as JsonValue, otherValue as JsonValue);
    })
  );
}
