import { type CapturedEvent, isPlainObject, type JsonObject, type JsonValue } from '@hansard/events';
import { MessageNumbers } from '@hansard/facts';
import type { WriteDiagnostic } from '../lines/format-diagnostic.ts';
import { idText, references } from '../lines/parse-lines.ts';
import { type DerivedRecord, isAddedByReader, RecordDeriver, type RecordMaker } from './derive-records.ts';
import { isSpecified, type LineStyle, lineText } from './line-form.ts';
import { applyRemainder, dialectFields, type KeptRemainder, keptRemainder } from './remainder.ts';
import {
  isRecordType,
  type SessionDialect,
  type SessionFormatId,
  sessionDialects,
  sessionV1Dialect,
  sessionV2Dialect,
  smallchatDialect,
  unknownTypePrefix,
} from './session-dialect.ts';
import { callKey } from './session-reading.ts';
import { isSmallchatKey } from './smallchat-form.ts';
import { recordsOf, SmallchatRecords } from './smallchat-records.ts';

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

/** What a written session log does not hold. */
export interface WrittenReport {
  /** The number of events of each type that are not in it. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** What records of a session log lose in the other dialect, and the links to events that are left out. `line` is the line of the text. */
  readonly diagnostics: readonly WriteDiagnostic[];
  /** The additional keys that were left out, with the number of records. `isExtended` writes them. */
  readonly omittedKeys: Readonly<Record<string, number>>;
}

/** A session log, and what it does not hold. */
export interface WrittenSession extends WrittenReport {
  /** One record per line; empty without records. */
  readonly text: string;
}

export interface WriteOptions {
  /** Whether records have keys besides those of the specification, which say more of the log. */
  readonly isExtended?: boolean;
}

/**
 * Writes a session log while its events are recorded. All lines together are those that `write` gives for the whole log. Each line is given
 * as soon as no later event can change it: the line of a model's answer with its `agent:inference`, or when its agent answers again.
 */
export interface SessionWriter {
  /**
   * Adds the next event of the log. Returns the lines that it completes.
   * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
   */
  add(event: CapturedEvent): readonly string[];
  /** Ends the log. Returns the remaining lines. */
  finish(): readonly string[];
  /** What the lines so far do not hold. */
  report(): WrittenReport;
}

/** A reference in a line to what the log did not have before. */
interface AheadReference {
  readonly line: number;
  readonly eventId: string;
  readonly field: string;
}

class DialectWriter implements SessionWriter {
  readonly #dialect: SessionDialect;
  readonly #isExtended: boolean;
  readonly #numbers = new MessageNumbers();
  readonly #maker: RecordMaker;
  readonly #deriver: RecordDeriver;
  readonly #keys: SpecifiedKeys;
  readonly #isSourceLost: (derived: DerivedRecord, record: JsonObject) => boolean;
  readonly #ahead = new Map<string, AheadReference[]>();
  readonly #lost: WriteDiagnostic[] = [];
  readonly #unwritten: WriteDiagnostic[] = [];
  readonly #leftOut = new LeftOutCount();
  #style: LineStyle;
  #lines = 0;

  constructor(dialect: SessionDialect, { isExtended = false }: WriteOptions) {
    this.#dialect = dialect;
    this.#isExtended = isExtended;
    this.#maker = recordsOf(dialect, true);
    this.#deriver = new RecordDeriver(dialect, this.#maker);
    this.#style = dialect.style;
    this.#keys = new SpecifiedKeys(dialect);
    this.#isSourceLost = dialect.sourceKey === null ? createSourceCheck() : () => false;
  }

  add(logged: CapturedEvent): string[] {
    // Records of smallchat have numbers of their own.
    const event = this.#dialect.id === 'smallchat' ? logged : this.#numbers.add(logged);
    const lines = this.#deriver.add(event).map((derived) => this.#line(derived));
    const recordId = this.#maker.recordIdOf(event.id);
    if (recordId === undefined) {
      this.#leftOut.add(event);
      if (hasRecordElsewhere(event)) {
        const message = `${this.#dialect.id} has no record for ${event.id}, a record of the other dialect (${event.type}).`;
        this.#unwritten.push({ code: 'record_not_written', eventId: event.id, message });
      }
    }
    if (this.#ahead.size > 0) this.#checkAhead(logged, event, recordId);
    return lines;
  }

  finish(): string[] {
    return this.#deriver.finish().map((derived) => this.#line(derived));
  }

  report(): WrittenReport {
    return {
      leftOut: this.#leftOut.counts,
      diagnostics: [
        ...this.#lost,
        ...this.#unwritten,
        ...(this.#maker instanceof SmallchatRecords ? this.#maker.unseen : []),
      ],
      omittedKeys: { ...this.#keys.omitted },
    };
  }

  #line(unit: DerivedRecord): string {
    const { record, lost } = complete(this.#dialect, unit);
    const { style, lineEnd } = this.#dialect;
    if (unit.isAdded === true) {
      this.#lines += 1;
      return `${lineText(record, style)}${lineEnd}`;
    }
    if (this.#isSourceLost(unit, record)) lost.add('source');
    const [first] = unit.events;
    this.#lines += 1;
    for (const field of lost) this.#lose({ line: this.#lines, eventId: first.id, field });
    this.#leftOut.write(unit.events);
    this.#style = keptRemainder(first)?.style ?? this.#style;
    const isWhole = this.#isExtended || isOfDialect(this.#dialect, unit);
    const written = isWhole ? record : this.#keys.only(record);
    if (keptRemainder(first)?.format !== this.#dialect.id) this.#noteAhead(written, first.id);
    return `${lineText(written, this.#style)}${lineEnd}`;
  }

  #lose({ line, eventId, field }: AheadReference): void {
    const message = `${this.#dialect.id} cannot hold the ${field} of ${eventId} as recorded.`;
    this.#lost.push({ code: 'field_not_written', line, eventId, field, message });
  }

  #noteAhead(record: JsonObject, eventId: string): void {
    // Its references are checked where they are made.
    if (this.#dialect.id === 'smallchat') return;
    for (const field of [this.#dialect.substanceKey, this.#dialect.causeKey])
      for (const id of references(record[field])) {
        if (this.#maker.recordIdOf(id) !== undefined) continue;
        const place = { line: this.#lines, eventId, field };
        this.#ahead.set(id, [...(this.#ahead.get(id) ?? []), place]);
      }
  }

  /** A line that named a later event names nothing if that event got no record, or a record with another id. */
  #checkAhead(logged: CapturedEvent, event: CapturedEvent, recordId: string | undefined): void {
    for (const id of new Set([logged.id, event.id])) {
      const places = this.#ahead.get(id);
      if (places === undefined) continue;
      this.#ahead.delete(id);
      if (recordId === id || isAddedByReader(event)) continue;
      for (const place of places) this.#lose(place);
    }
  }
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
  { record, events: [first], lost, isAdded = false }: DerivedRecord,
): { record: JsonObject; lost: Set<string> } {
  if (isAdded) return { record, lost: new Set(lost) };
  // A record of an unknown kind is written as it is.
  if (first.type.startsWith(unknownTypePrefix(dialect))) return { record, lost: new Set() };
  const kept = keptRemainder(first);
  if (kept === null) return { record, lost: new Set(lost) };
  if (dialect.id === 'smallchat' && kept.format !== dialect.id) return intoSmallchat(record, kept, lost);
  if (kept.format !== dialect.id) return crossDialect(dialect, record, kept, lost);
  return { record: applyRemainder(record, kept), lost: new Set() };
}

/** Adds the keys that smallchat does not have, whose values its loader ignores. */
function intoSmallchat(
  derived: JsonObject,
  { put = {}, absent = [] }: KeptRemainder,
  lost: ReadonlySet<string>,
): { record: JsonObject; lost: Set<string> } {
  const nowLost = new Set(lost);
  const more: Record<string, JsonValue> = {};
  for (const [pointer, value] of Object.entries(put)) {
    const [, key = ''] = pointer.split('/');
    if (pointer === '/message_id' || pointer === '/agent_id' || key === 'tool_calls') continue;
    if (dialectFields.test(pointer) || isSmallchatKey(derived, key)) nowLost.add(key);
    else if (pointer === `/${key}`) more[pointer] = value;
  }
  for (const pointer of absent) if (!pointer.startsWith('/tool_calls/')) nowLost.add(pointer.slice(1));
  const calls = Object.entries(put).filter(([pointer]) => pointer.endsWith('/function/arguments'));
  return {
    record: applyRemainder(derived, { put: { ...more, ...Object.fromEntries(calls) } }),
    lost: nowLost,
  };
}

function hasRecordElsewhere(event: CapturedEvent): boolean {
  return isRecordType(event.type) || (event.type === 'agent:piece_of_text' && !isAddedByReader(event));
}

/** Counts the events that are in no line. */
class LeftOutCount {
  readonly #others: Record<string, number> = {};
  /** The pieces of text without a record, until a delivery that carries one is written. */
  readonly #pieces = new Set<string>();

  get counts(): Record<string, number> {
    const { size } = this.#pieces;
    return { ...this.#others, ...(size === 0 ? {} : { 'agent:piece_of_text': size }) };
  }

  /** Adds an event that has no record. */
  add(event: CapturedEvent): void {
    if (isAddedByReader(event)) return;
    if (event.type === 'agent:piece_of_text') this.#pieces.add(event.id);
    else this.#others[event.type] = (this.#others[event.type] ?? 0) + 1;
  }

  /** The events of a record were written. */
  write(events: readonly CapturedEvent[]): void {
    for (const { substance } of events) if (substance !== undefined) this.#pieces.delete(substance);
  }
}

function writeSession(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  options: WriteOptions,
): WrittenSession {
  const writer = new DialectWriter(dialect, options);
  const lines = [...events.flatMap((event) => writer.add(event)), ...writer.finish()];
  return { text: lines.join(''), ...writer.report() };
}

/** A writer of a session log of a dialect, for a log that is being recorded. */
export function createSessionWriter(id: SessionFormatId, options: WriteOptions = {}): SessionWriter {
  return new DialectWriter(sessionDialects[id], options);
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

/**
 * Writes events as a log of smallchat. Events from `readSmallchat` become the same bytes. `not_seen_by_loader` names what the loader of smallchat
 * cannot see of them. Events that it cannot hold are left out and counted.
 *
 * @throws EVENT_INVALID for a part of a transcript whose data has a shape that this version does not know
 */
export function writeSmallchat(events: readonly CapturedEvent[], options: WriteOptions = {}): WrittenSession {
  return writeSession(smallchatDialect, events, options);
}
