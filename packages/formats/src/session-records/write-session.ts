import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { type DerivedRecord, deriveRecords } from './derive-records.ts';
import { applyRemainder, type Remainder } from './remainder.ts';
import { type SessionDialect, unknownTypePrefix } from './session-dialect.ts';

/** A session log, and the events that were left out. */
export interface WrittenSession {
  /** One record per line; empty without records. */
  readonly text: string;
  /** The number of events of each type that are not in it. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** Fields of one dialect that the other one expresses differently. */
const dialectKeys = /^\/(event_type|substance|cause|utterance_ref|caused_by|source)$/;

export function writeSession(dialect: SessionDialect, events: readonly CapturedEvent[]): WrittenSession {
  const derived = deriveRecords(dialect, events);
  const lines = derived.map((record) => `${JSON.stringify(completed(dialect, record))}\n`);
  return { text: lines.join(''), leftOut: countLeftOut(events, derived) };
}

function completed(dialect: SessionDialect, { record, events: [first] }: DerivedRecord): JsonObject {
  if (first.type.startsWith(unknownTypePrefix(dialect))) return record;
  const { record: kept } = first.data;
  return isRemainder(kept) ? applyRemainder(record, inDialect(dialect, kept)) : record;
}

function inDialect({ id }: SessionDialect, { format, put = {}, absent = [] }: KeptRemainder): Remainder {
  if (format === id) return { put, absent };
  return {
    put: Object.fromEntries(Object.entries(put).filter(([pointer]) => !dialectKeys.test(pointer))),
    absent: absent.filter((pointer) => !dialectKeys.test(pointer)),
  };
}

function countLeftOut(
  events: readonly CapturedEvent[],
  derived: readonly DerivedRecord[],
): Record<string, number> {
  const written = new Set(derived.flatMap((record) => record.events));
  // A piece of text without a record of its own is in the deliveries that carry it.
  const carried = new Set([...written].flatMap(({ substance }) => substance ?? []));
  const leftOut: Record<string, number> = {};
  for (const event of events) {
    const isCarried = event.type === 'agent:piece_of_text' && carried.has(event.id);
    // The reader added it; it has no record.
    const isAdded = event.data.record === null;
    if (written.has(event) || isCarried || isAdded) continue;
    leftOut[event.type] = (leftOut[event.type] ?? 0) + 1;
  }
  return leftOut;
}

type KeptRemainder = Remainder & { format: string };

function isRemainder(value: JsonValue | undefined): value is JsonObject & KeptRemainder {
  if (!isPlainObject(value) || typeof value.format !== 'string') return false;
  const { put = {}, absent = [] } = value;
  return isPlainObject(put) && Array.isArray(absent) && absent.every((item) => typeof item === 'string');
}
