import type { CapturedEvent, JsonObject, JsonValue } from '@hansard/events';
import type { SessionFormatId } from '../src/index.ts';
import type { WriteDiagnostic } from '../src/lines/format-diagnostic.ts';
import type { SessionFormat } from '../src/session-formats.ts';
import { logOf, recordsIn } from './make.ts';

/** A log converted to the other dialect and back. Each original record has its number as `n`. */
export interface Conversion {
  readonly original: readonly JsonObject[];
  readonly there: readonly JsonObject[];
  readonly back: readonly JsonObject[];
  /** What was reported: `N KEY` for a value, `N record` for a record. Keys as in v2. */
  readonly reported: ReadonlySet<string>;
}

export function convert(records: readonly JsonObject[], from: SessionFormat, to: SessionFormat): Conversion {
  const original = recordsIn(logOf(...records.map((record, n) => ({ ...record, n })))) as JsonObject[];
  const { events } = from.read(logOf(...original));
  const first = to.write(events, { isExtended: true });
  const second = to.read(first.text).events;
  const last = from.write(second, { isExtended: true });
  const there = recordsIn(first.text) as JsonObject[];
  const back = recordsIn(last.text) as JsonObject[];
  const reported = [
    ...first.diagnostics.map((diagnostic) => placeOf(diagnostic, there, events)),
    ...last.diagnostics.map((diagnostic) => placeOf(diagnostic, back, second)),
  ];
  return { original, there, back, reported: new Set(reported) };
}

/** What a conversion changed without a word, as `N KEY`; made from the records alone. */
export function silentChanges(
  { original, there, back, reported }: Conversion,
  to: SessionFormatId,
): string[] {
  const thereBy = new Map(there.map((record) => [record.n, record]));
  const backBy = new Map(back.map((record) => [record.n, record]));
  const pieces = new Map(there.filter(({ n }) => n === undefined).map((piece) => [piece.message_id, piece]));
  const changes = original.flatMap((record) => {
    const converted = thereBy.get(record.n);
    const returned = backBy.get(record.n);
    if (converted === undefined) return [`${record.n} record`];
    const changed =
      to === 'session-v2' ? changedInV2(record, converted, pieces) : changedInV1(record, converted);
    return [...changed, ...differentKeys(record, returned ?? {}).map(inV2)].map(
      (key) => `${record.n} ${key}`,
    );
  });
  return [...new Set(changes)].filter((change) => !reported.has(change));
}

/** Whether a conversion may leave a record out: a piece of text, or of a kind that neither dialect has. */
export function mayBeLeftOut({ event_type: type, role }: JsonObject): boolean {
  if (type === undefined || type === 'transcript_entry')
    return !['system', 'user', 'assistant', 'tool'].includes(role as string);
  return type !== 'agent_created';
}

const links = ['substance', 'cause', 'utterance_ref', 'caused_by', 'source', 'event_type'];

function changedInV2(
  record: JsonObject,
  converted: JsonObject,
  pieces: ReadonlyMap<JsonValue | undefined, JsonObject>,
): string[] {
  const { utterance_ref: substance, caused_by: cause } = record;
  const piece = pieces.get(converted.substance);
  const isPiece =
    piece !== undefined &&
    same(piece.cause, cause) &&
    same(piece.content, textOf(record)) &&
    !isReference(substance);
  const changed = differentKeys(record, converted).filter((key) => !links.includes(key));
  if (!isPiece && !same(converted.substance, substance)) changed.push('substance');
  // In v2, a delivery has its content as its only link.
  const isRepeated = isRepetition(cause, substance) && converted.cause === undefined;
  if (!isPiece && !isRepeated && !same(converted.cause, cause)) changed.push('cause');
  if (converted.event_type !== (isEntry(record) ? 'transcript_entry' : record.event_type))
    changed.push('event_type');
  return changed;
}

function changedInV1(record: JsonObject, converted: JsonObject): string[] {
  const { substance, cause } = record;
  const changed = differentKeys(record, converted).filter((key) => !links.includes(key));
  if (!same(converted.utterance_ref, substance)) changed.push('substance');
  // In v1, a delivery also names its content as its cause.
  const isRepeated = cause === undefined && isRepetition(converted.caused_by, substance);
  if (!isRepeated && !same(converted.caused_by, cause)) changed.push('cause');
  if (converted.event_type !== (isEntry(record) ? undefined : record.event_type)) changed.push('event_type');
  return changed;
}

function isEntry({ event_type: type }: JsonObject): boolean {
  return type === undefined || type === 'transcript_entry';
}

function textOf({ content }: JsonObject): JsonValue | undefined {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : JSON.stringify(content);
  return content.map((part) => (part as JsonObject).text ?? JSON.stringify(part)).join('\n');
}

/** Whether a cause names the first record of the substance, and only that. */
function isRepetition(cause: JsonValue | undefined, substance: JsonValue | undefined): boolean {
  const [first] = [substance ?? []].flat().filter(isReference);
  return isReference(cause) && String(cause) === String(first);
}

function isReference(value: JsonValue | undefined): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

function placeOf(
  { code, line, eventId, field }: WriteDiagnostic,
  records: readonly JsonObject[],
  events: readonly CapturedEvent[],
): string {
  if (code === 'field_not_written') return `${records[(line ?? 0) - 1]?.n} ${inV2(field ?? '')}`;
  const data = events.find(({ id }) => id === eventId)?.data;
  const kept = data?.record as { put?: JsonObject } | undefined;
  return `${data?.n ?? kept?.put?.['/n']} record`;
}

function inV2(key: string): string {
  return { utterance_ref: 'substance', caused_by: 'cause' }[key] ?? key;
}

function differentKeys(one: JsonObject, other: JsonObject): string[] {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].filter((key) => !same(ownValue(one, key), ownValue(other, key)));
}

function ownValue(record: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Equal as JSON, whatever the order of keys. */
function same(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return inOrder(one) === inOrder(other);
}

function inOrder(value: JsonValue | undefined): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))
      : inner,
  );
}
