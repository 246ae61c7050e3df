import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { numberMessages } from '@hansard/facts';
import type { WriteDiagnostic } from '../lines/format-diagnostic.ts';
import { idText, references } from '../lines/parse-lines.ts';
import { createWrittenNames, type DerivedRecord, deriveRecords, isAddedByReader } from './derive-records.ts';
import { isSpecified, lineText } from './line-form.ts';
import { applyRemainder, dialectFields, type KeptRemainder, keptRemainder } from './remainder.ts';
import {
  isRecordType,
  type SessionDialect,
  sessionV1Dialect,
  sessionV2Dialect,
  unknownTypePrefix,
} from './session-dialect.ts';
import { callKey } from './session-reading.ts';

/** The links of the dialects, each with its key in the other one. */
const otherKeys: Readonly<Record<string, string>> = {
  '/utterance_ref': 'substance',
  '/caused_by': 'cause',
  '/substance': 'utterance_ref',
  '/cause': 'caused_by',
};

/**
 * Completes a record with the remainder of a record of the other dialect. Links that its events do not have as they were
 * written get their key in this dialect. `lost` are the keys that the record cannot have; the result adds to them.
 */
function crossDialect(
  dialect: SessionDialect,
  derived: JsonObject,
  { put = {}, absent = [] }: KeptRemainder,
  lost: ReadonlySet<string>,
): { record: JsonObject; lost: Set<string> } {
  const nowLost = new Set(lost);
  const others = Object.entries(put).filter(([pointer]) => !dialectFields.test(pointer));
  let record = applyRemainder(derived, {
    put: Object.fromEntries(others),
    absent: absent.filter((pointer) => !dialectFields.test(pointer)),
  });
  const own = [dialect.substanceKey, dialect.causeKey];
  // The substance first: it decides whether the record can have a cause.
  const entries = Object.entries(put).sort(([one], [other]) => rank(one) - rank(other));
  for (const [pointer, value] of entries) {
    if (!dialectFields.test(pointer)) continue;
    const key = otherKeys[pointer];
    if (pointer === '/source') {
      // In a dialect without sources, they are compared with those that follow from the links.
      if (dialect.sourceKey !== null) nowLost.add('source');
    } else if (pointer === '/event_type') {
      if (derived.event_type !== value) nowLost.add('event_type');
    } else if (key === undefined || !own.includes(key)) {
      // The key of a link of this dialect, in a log that does not have it.
      nowLost.add(pointer.slice(1));
    } else if (lost.size === 0 && mayPut(dialect, record, key, value)) {
      record = { ...record, [key]: value };
    } else {
      nowLost.add(key);
    }
  }
  for (const pointer of absent) {
    if (!dialectFields.test(pointer) || pointer === '/source') continue;
    const key = otherKeys[pointer] ?? pointer.slice(1);
    if (pointer !== '/event_type' || derived.event_type !== undefined) nowLost.add(key);
    else nowLost.add('event_type');
  }
  return { record, lost: nowLost };
}

/** Whether a link can have this value, beside the links that follow from the events. */
function mayPut(
  { substanceKey, causeKey, mayHaveBoth }: SessionDialect,
  record: JsonObject,
  key: string,
  value: JsonValue,
): boolean {
  if (key === causeKey) {
    const [substance] = references(record[substanceKey]);
    // That a record names its substance twice is the rule in one dialect, and cannot be said in the other.
    return substance === undefined || (mayHaveBoth && references(value).join('\n') !== substance);
  }
  return references(value).length > 0 || record[substanceKey] === undefined;
}

function rank(pointer: string): number {
  return /substance|utterance_ref/.test(pointer) ? 0 : 1;
}

/**
 * In a dialect without sources, the sender of a user message follows from its links: the agent of the record that it
 * names, or the outside world if it names none. The function says of each record, in the order of the log, whether its source differs from that.
 */
function createSourceCheck(): (derived: DerivedRecord, record: JsonObject) => boolean {
  const agents = new Map<string, string | undefined>();

  function followingSource({ substance, cause }: JsonObject): string {
    const [origin] = [...references(substance), ...references(cause)];
    return (origin === undefined ? undefined : agents.get(origin)) ?? 'external';
  }

  return (derived, record) => {
    const id = idText(record.message_id);
    if (id !== undefined && !agents.has(id)) agents.set(id, idText(record.agent_id));
    const following = derived.source === undefined ? undefined : followingSource(record);
    return sourceOf(derived) !== following;
  };
}

/** The source in the record itself, if it was read from a log with sources; otherwise the one that its events have. */
function sourceOf({ source, events: [first] }: DerivedRecord): JsonValue | undefined {
  const { format, put = {}, absent = [] } = keptRemainder(first) ?? {};
  if (format !== 'session-v1') return source;
  if (Object.hasOwn(put, '/source')) return put['/source'];
  return absent.includes('/source') ? undefined : source;
}

/** A session log, and what it does not hold. */
export interface WrittenSession {
  /** One record per line; empty without records. */
  readonly text: string;
  /** The number of events of each type that are not in it. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What records of a session log lose in the other dialect, and the links to events that are left out. `line` is that of `text`. */
  readonly diagnostics: readonly WriteDiagnostic[];
  /** The additional keys that were left out, with the number of records. `isExtended` writes them. */
  readonly omittedKeys: Readonly<Record<string, number>>;
}

export interface WriteOptions {
  /** Whether records have keys besides those of the specification, which say more of the log. */
  readonly isExtended?: boolean;
}

function writeSession(
  dialect: SessionDialect,
  logged: readonly CapturedEvent[],
  { isExtended = false }: WriteOptions,
): WrittenSession {
  const events = numberMessages(logged);
  const derived = deriveRecords(dialect, events, createWrittenNames(events));
  const diagnostics: WriteDiagnostic[] = [];
  const keys = new SpecifiedKeys(dialect);
  let style = derived.flatMap(({ events: [first] }) => keptRemainder(first) ?? [])[0]?.style ?? 'compact';
  const isSourceLost = dialect.sourceKey === null ? createSourceCheck() : () => false;
  const lines = derived.map((unit, index) => {
    const { record, lost } = complete(dialect, unit);
    if (isSourceLost(unit, record)) lost.add('source');
    const [{ id: eventId }] = unit.events;
    for (const field of lost) {
      const message = `${dialect.id} cannot hold the ${field} of ${eventId} as recorded.`;
      diagnostics.push({ code: 'field_not_written', line: index + 1, eventId, field, message });
    }
    style = keptRemainder(unit.events[0])?.style ?? style;
    return `${lineText(isExtended || isOfDialect(dialect, unit) ? record : keys.only(record), style)}\n`;
  });
  const written = new Set(derived.flatMap((record) => record.events));
  for (const event of events) {
    if (written.has(event) || !hasRecordElsewhere(event)) continue;
    const message = `${dialect.id} has no record for ${event.id}, a record of the other dialect (${event.type}).`;
    diagnostics.push({ code: 'record_not_written', eventId: event.id, message });
  }
  return {
    text: lines.join(''),
    leftOut: countLeftOut(events, written),
    diagnostics,
    omittedKeys: keys.omitted,
  };
}

/** Whether a record was read from a log of the dialect, with a key, an order or a style of its own. */
function isOfDialect(dialect: SessionDialect, { events: [first] }: DerivedRecord): boolean {
  return first.type.startsWith(unknownTypePrefix(dialect)) || keptRemainder(first)?.format === dialect.id;
}

/** Leaves out of records the keys that the specification does not have. Takes them in the order of the log. */
class SpecifiedKeys {
  readonly omitted: Record<string, number> = {};
  readonly #dialect: SessionDialect;
  /** The record of each call, by agent and call id. */
  readonly #calls = new Map<string, JsonValue | undefined>();

  constructor(dialect: SessionDialect) {
    this.#dialect = dialect;
  }

  only(record: JsonObject): JsonObject {
    const calls = Array.isArray(record.tool_calls) ? record.tool_calls : [];
    for (const call of calls)
      if (isPlainObject(call))
        this.#calls.set(callKey(idText(record.agent_id), `${call.id}`), record.message_id);
    const kept = Object.entries(record).filter(([key, value]) => {
      if (isSpecified(this.#dialect, record, key)) return true;
      if (key !== this.#dialect.causeKey || !this.#isOwnCall(record, value))
        this.omitted[key] = (this.omitted[key] ?? 0) + 1;
      return false;
    });
    return Object.fromEntries(kept);
  }

  /** Whether the cause of a result is the message with its call, which its call id says as well. */
  #isOwnCall({ agent_id: agent, tool_call_id: callId }: JsonObject, cause: JsonValue | undefined): boolean {
    return cause === this.#calls.get(callKey(idText(agent), `${callId}`));
  }
}

/** The record with the fields that its events lack, and the keys of those fields that it cannot have. */
function complete(
  dialect: SessionDialect,
  { record, events: [first], lost }: DerivedRecord,
): { record: JsonObject; lost: Set<string> } {
  // A record of an unknown kind is written as it is.
  if (first.type.startsWith(unknownTypePrefix(dialect))) return { record, lost: new Set() };
  const kept = keptRemainder(first);
  if (kept === null) return { record, lost: new Set(lost) };
  if (kept.format !== dialect.id) return crossDialect(dialect, record, kept, lost);
  return { record: applyRemainder(record, kept), lost: new Set() };
}

function hasRecordElsewhere(event: CapturedEvent): boolean {
  return isRecordType(event.type) || (event.type === 'agent:piece_of_text' && !isAddedByReader(event));
}

function countLeftOut(
  events: readonly CapturedEvent[],
  written: ReadonlySet<CapturedEvent>,
): Record<string, number> {
  // A piece of text without a record of its own is in the deliveries that carry it.
  const carried = new Set([...written].flatMap(({ substance }) => substance ?? []));
  const leftOut: Record<string, number> = {};
  for (const event of events) {
    const isCarried = event.type === 'agent:piece_of_text' && carried.has(event.id);
    if (written.has(event) || isCarried || isAddedByReader(event)) continue;
    leftOut[event.type] = (leftOut[event.type] ?? 0) + 1;
  }
  return leftOut;
}

/**
 * Writes events as a session log of the older dialect. Events from `readSessionV1` become the same records. A delivery of
 * an `agent:piece_of_text`, for which this dialect has no record, names the tool call as its cause.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSessionV1(events: readonly CapturedEvent[], options: WriteOptions = {}): WrittenSession {
  return writeSession(sessionV1Dialect, events, options);
}

/**
 * Writes events as a session log. Events from `readSessionV2` become the same records. Events that a session log cannot
 * hold are left out and counted.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSessionV2(events: readonly CapturedEvent[], options: WriteOptions = {}): WrittenSession {
  return writeSession(sessionV2Dialect, events, options);
}
