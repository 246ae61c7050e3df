import {
  BalanceSheet,
  type CapturedEvent,
  definedOnly,
  eventProblem,
  formatErrors,
  type JsonObject,
  type JsonValue,
  messageOf,
  preview,
} from '@hansard/events';
import type { FormatDiagnostic, FormatReport } from '../lines/format-diagnostic.ts';
import { type LogOrigin, originOf } from '../lines/log-origin.ts';
import { isName } from '../lines/name-pool.ts';
import {
  bytesOf,
  type DamagedLine,
  describeDamage,
  fileName,
  idText,
  parseLines,
  type RecordLine,
  references,
  type SessionLine,
} from '../lines/parse-lines.ts';
import { isSpecified, keyOrdersOf, type LineStyle, styleOf } from './line-form.ts';
import { recordEvents } from './record-events.ts';
import { applyRemainder, type KeptRemainder, remainderOf } from './remainder.ts';
import {
  foreignTrait,
  isForeignEntry,
  isRecordType,
  recordKind,
  type SessionDialect,
  sessionV1Dialect,
  sessionV2Dialect,
  smallchatDialect,
} from './session-dialect.ts';
import { createRecordNames, meantCall, type SessionEntry, type SessionReading } from './session-reading.ts';
import { inSessionForm, person } from './smallchat-form.ts';
import { deriveRecords } from './smallchat-records.ts';

/** Reports unusual records. All of them could be read. */
function findDiagnostics(reading: SessionReading, entries: readonly SessionEntry[]): void {
  const creations = new Map<string | undefined, number>();
  for (const { kind, agentId, line } of entries) {
    if (kind === 'agent_created' && !creations.has(agentId)) creations.set(agentId, line.line);
  }
  const reported = new Set<string>();
  const agentNames = new Map<string, number>();
  for (const entry of entries) {
    checkKind(reading, entry);
    checkContent(reading, entry);
    checkId(reading, entry);
    checkReferences(reading, entry);
    checkExactness(reading, entry);
    checkAgent(reading, entry, creations, reported);
    if (entry.kind === 'agent_created') checkName(reading, entry, agentNames);
  }
}

function checkKind(
  { dialect, report }: SessionReading,
  { kind, line: { line, isUtf8 }, record, original }: SessionEntry,
): void {
  if (!isUtf8) report(line, 'not_utf8', 'The line is not UTF-8; invalid bytes were replaced by U+FFFD.');
  const foreign = foreignTrait(dialect, original);
  if (foreign !== null) {
    report(line, 'other_dialect', `A ${dialect.id} log does not have ${foreign}; it is kept unchanged.`);
  } else if (kind === null) {
    const kinds = `event_type ${preview(record.event_type)} and role ${preview(record.role)}`;
    report(line, 'unknown_kind', `Not a kind of record that ${dialect.id} knows: ${kinds}.`);
  }
}

function checkContent({ report }: SessionReading, { kind, line, record }: SessionEntry): void {
  const { content = null } = record;
  if (kind === null || kind === 'agent_created' || content === null || typeof content === 'string') return;
  report(
    line.line,
    'wrong_value',
    `content is ${preview(content)}, which is not text. Its parts are read as text.`,
  );
}

function checkId({ names, report }: SessionReading, { id, line, record }: SessionEntry): void {
  const text = idText(record.message_id);
  if (text === undefined) {
    report(line.line, 'id_missing', `The record has no message_id; its id becomes ${id}.`);
  } else if (names.definitionOf(text) !== line) {
    const first = names.definitionOf(text)?.line;
    report(
      line.line,
      'id_taken',
      `${preview(text)} is already the id of line ${first}; this one becomes ${id}.`,
    );
  } else if (id !== text && isName(text)) {
    const message = `${preview(text)} is already the id of an event of another record; this one becomes ${id}.`;
    report(line.line, 'id_taken', message);
  } else if (id !== text) {
    report(line.line, 'id_replaced', `${preview(text)} is not a valid event id; it becomes ${id}.`);
  }
}

function checkReferences({ dialect, names, report }: SessionReading, { line, record }: SessionEntry): void {
  const { substanceKey, causeKey, mayHaveBoth } = dialect;
  for (const key of [substanceKey, causeKey]) {
    for (const reference of references(record[key])) {
      const definition = names.definitionOf(reference);
      if (definition === undefined) {
        report(
          line.line,
          'reference_missing',
          `${key} ${preview(reference)} does not name any record of the log.`,
        );
      } else if (definition.line >= line.line) {
        const where =
          definition === line ? 'the record itself' : `line ${definition.line}, which comes later`;
        report(line.line, 'reference_ahead', `${key} ${preview(reference)} is ${where}.`);
      }
    }
  }
  const [substance, ...otherSubstances] = references(record[substanceKey]);
  const passed = references(record[causeKey]).filter((reference) => reference !== substance);
  if (substance === undefined) return;
  if (otherSubstances.length > 0) {
    const message = `${substanceKey} names ${otherSubstances.length + 1} records; an event has one substance: the first.`;
    report(line.line, 'reference_not_exact', message);
  }
  if (passed.length > 1) {
    const message = `${causeKey} names ${passed.length} records besides ${substanceKey}; an event has one via: the first.`;
    report(line.line, 'reference_not_exact', message);
  }
  if (!mayHaveBoth && references(record[causeKey]).length > 0) {
    const message = `The record has both ${substanceKey} and ${causeKey}; ${causeKey} is read as via.`;
    report(line.line, 'substance_and_cause', message);
  }
}

/** Reports references to messages with tool calls that do not say which part of the message they mean. */
function checkExactness(reading: SessionReading, { line, record }: SessionEntry): void {
  const { dialect, names, severalCalls, report } = reading;
  const { substanceKey, causeKey } = dialect;
  const hasSubstance = references(record[substanceKey]).length > 0;
  for (const key of [substanceKey, causeKey]) {
    for (const reference of references(record[key])) {
      const definition = names.definitionOf(reference);
      const calls = severalCalls.get(names.refer(reference)) ?? [];
      if (key === substanceKey && isCalling(definition?.record)) {
        const message = `${key} ${preview(reference)} is a message with tool calls, not an utterance; it means its first call.`;
        report(line.line, 'reference_not_exact', message);
      } else if (key === causeKey && calls.length > 1 && meantCall(record, calls) === undefined) {
        const isAll = !hasSubstance && definition !== undefined && definition.line < line.line;
        const message = `${key} ${preview(reference)} is a message with ${calls.length} tool calls and does not say which one; it means ${isAll ? 'all of them' : 'the first'}.`;
        report(line.line, 'reference_not_exact', message);
      }
    }
  }
}

function isCalling(record: JsonObject | undefined): boolean {
  return record?.role === 'assistant' && Array.isArray(record.tool_calls) && record.tool_calls.length > 0;
}

function checkAgent(
  { dialect, report }: SessionReading,
  { kind, agentId, line: { line }, record, original }: SessionEntry,
  creations: ReadonlyMap<string | undefined, number>,
  reported: Set<string>,
): void {
  const text = idText(record.agent_id);
  if (dialect.id === 'smallchat' && original.agent === person) return;
  if (text === undefined || agentId === undefined) {
    const message = 'The record names no agent; it belongs to the dispatched agent.';
    if (kind !== null) report(line, 'agent_missing', message);
    return;
  }
  const created = creations.get(agentId);
  if (kind === 'agent_created' && created !== line) {
    report(line, 'agent_created_twice', `${preview(text)} was created on line ${created}.`);
  }
  if (reported.has(agentId)) return;
  if (agentId !== text) {
    reported.add(agentId);
    const problem = isName(text) ? 'already the id of another agent' : 'not a valid agent id';
    const message = `${preview(text)} is ${problem}; it becomes ${agentId}.`;
    report(line, 'agent_id_replaced', message);
  }
  if (kind !== null && (created === undefined || created > line)) {
    reported.add(agentId);
    const where = created === undefined ? 'nowhere in this log' : `on line ${created} only`;
    report(line, 'agent_not_created', `${preview(text)} is created ${where}.`);
  }
}

function checkName({ report }: SessionReading, entry: SessionEntry, agentNames: Map<string, number>): void {
  const { name } = entry.record;
  // All hooks of smallchat have one name.
  if (typeof name !== 'string' || entry.original.role === 'hook') return;
  const first = agentNames.get(name);
  if (first === undefined) agentNames.set(name, entry.line.line);
  else report(entry.line.line, 'name_taken', `The agent of line ${first} has the name ${preview(name)} too.`);
}

export interface ReadOptions {
  /** The name of the log in messages and diagnostics. */
  readonly file?: string;
}

/**
 * A session log as events, in the order of its lines. Records have no times, so no event has one. A log that has grown gives
 * the same events and then more.
 */
export interface ReadSession {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  readonly origin: LogOrigin;
}

function readSession(
  dialect: SessionDialect,
  source: string | Uint8Array,
  { file }: ReadOptions,
): ReadSession {
  const lines = parseLines(source);
  const records = lines.filter((line) => line.kind === 'record');
  const firstRecord = refuseOthers(dialect, records, lines.length, file);

  const diagnostics: FormatDiagnostic[] = [];
  const names = createRecordNames();
  const reading: SessionReading = {
    dialect,
    names,
    calls: new Map(),
    severalCalls: new Map(),
    agentsByName: new Map(),
    utterances: new Map(),
    transcripts: new Map(),
    pieces: new Map(),
    report: (line, code, message) => diagnostics.push({ code, line, message, ...definedOnly({ file }) }),
  };

  const entries: SessionEntry[] = [];
  const originals = new Map<string, RecordLine>();
  const sheet = sheetOf(source, lines);
  const events = lines.flatMap((read) => {
    const line = read.kind === 'record' ? inForm(dialect, read, names) : read;
    if (line.kind === 'damaged') {
      reading.report(line.line, line.code, describeDamage(line));
      if (line.code === 'unfinished') return leaveOut(sheet, line);
      return counted(sheet, line, [noticeOf(reading, line, file)]);
    }
    const original = read as RecordLine;
    const kind = recordKind(dialect, original.record);
    const record = kind === null ? original.record : line.record;
    const agentId = names.agentId(line.record.agent_id);
    const entry = { line, record, original: original.record, kind, id: names.idOf(line), agentId };
    entries.push(entry);
    if (kind !== null) originals.set(entry.id, original);
    return counted(sheet, line, recordableEvents(reading, entry, file));
  });
  findDiagnostics(reading, entries);
  diagnostics.sort((a, b) => a.line - b.line);
  return {
    events: keepRemainders(dialect, events, originals),
    report: { records: records.length, diagnostics, balance: sheet.balance },
    origin: originOf(firstRecord, file),
  };
}

/** The balance of a log before its lines are mapped: a log is one file, and blank lines are left out. */
function sheetOf(source: string | Uint8Array, lines: readonly SessionLine[]): BalanceSheet {
  const sheet = new BalanceSheet();
  const all = bytesOf(source);
  sheet.take('files');
  sheet.record('files');
  sheet.take('records', lines.length);
  sheet.take('bytes', all);
  sheet.leaveOut('bytes', 'blank', all - lines.reduce((sum, { bytes }) => sum + bytes, 0));
  return sheet;
}

function leaveOut(sheet: BalanceSheet, { bytes }: SessionLine): [] {
  sheet.leaveOut('records', 'unfinished');
  sheet.leaveOut('bytes', 'unfinished', bytes);
  return [];
}

/** Counts a line as recorded if it has events. */
function counted(
  sheet: BalanceSheet,
  { bytes }: SessionLine,
  events: readonly CapturedEvent[],
): readonly CapturedEvent[] {
  if (events.length === 0) return events;
  sheet.record('records');
  sheet.record('bytes', bytes);
  return events;
}

/** The events of a record, or a notice with the id of the record if it cannot be mapped or no store can record an event of it. */
function recordableEvents(
  reading: SessionReading,
  entry: SessionEntry,
  file: string | undefined,
): CapturedEvent[] {
  let problem: string | null;
  try {
    const events = recordEvents(reading, entry);
    problem = events.map(eventProblem).find((one) => one !== null) ?? null;
    if (problem === null) return events;
  } catch (error) {
    problem = messageOf(error);
  }
  const { id, record, line } = entry;
  reading.report(
    line.line,
    'not_mapped',
    `The record could not be mapped, and is kept as a notice: ${problem}`,
  );
  return [{ id, type: 'system:notice', timestamp: null, data: noticeData(problem, line.line, record, file) }];
}

function noticeData(problem: string, line: number, raw: JsonValue, file: string | undefined): JsonObject {
  return { problem, ...(file === undefined ? {} : { file: fileName(file) }), line, raw };
}

/** Puts the fields of each record that its events lack into its first event, with the order of its keys and the style of its line. */
function keepRemainders(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  originals: ReadonlyMap<string, RecordLine>,
): CapturedEvent[] {
  let style: LineStyle = dialect.style;
  const remainders = new Map<string, KeptRemainder>();
  for (const {
    record: derived,
    events: [first],
    isAdded,
  } of deriveRecords(dialect, events)) {
    const original = originals.get(first.id);
    if (original === undefined || isAdded === true || isRecordType(first.type)) continue;
    const { record, text } = original;
    const remainder = remainderOf(derived, record);
    const order = keyOrdersOf(applyRemainder(derived, remainder ?? {}), record);
    const lineStyle: LineStyle = text === undefined ? style : (styleOf(record, text, style) ?? style);
    const hasOwnKeys = Object.keys(record).some((key) => !isSpecified(dialect, record, key));
    if (remainder === null && order === null && lineStyle === style && !hasOwnKeys) continue;
    remainders.set(first.id, {
      format: dialect.id,
      ...remainder,
      ...(order === null ? {} : { order }),
      ...(lineStyle === style ? {} : { style: lineStyle }),
    });
    style = lineStyle;
  }
  return events.map((event) => {
    const record = remainders.get(event.id);
    return record === undefined ? event : { ...event, data: { ...event.data, record } };
  });
}

/** A line in the form in which the records of every dialect are read. */
function inForm(
  dialect: SessionDialect,
  line: RecordLine,
  { definitionOf }: SessionReading['names'],
): RecordLine {
  if (dialect.id !== 'smallchat') return line;
  return { ...line, record: inSessionForm(line.record, (id) => definitionOf(id) !== undefined) };
}

function noticeOf(
  { names }: SessionReading,
  { line, problem, text }: DamagedLine,
  file: string | undefined,
): CapturedEvent {
  return {
    id: names.newId(`line-${line}`),
    type: 'system:notice',
    timestamp: null,
    data: noticeData(problem, line, text, file),
  };
}

/** The first record of the dialect in a log. */
function refuseOthers(
  dialect: SessionDialect,
  records: readonly RecordLine[],
  lineCount: number,
  file: string | undefined,
): JsonObject {
  const name = file ?? 'The log';
  const known = records.filter(({ record }) => recordKind(dialect, record) !== null);
  const entries = known.filter(({ record }) => recordKind(dialect, record) === 'transcript_entry');
  const [first] = records;
  if (first === undefined || known.length === 0) {
    const size = lineCount === 0 ? 'is empty' : `has ${lineCount} lines`;
    const message = `${name} ${size}: it does not hold any record of a ${dialect.id} log.`;
    throw formatErrors.error('FORMAT_NO_RECORDS', message, {
      details: { file, lines: lineCount },
    });
  }
  if (entries.length > 0 && entries.every(({ record }) => isForeignEntry(dialect, record))) {
    const other = dialect.id === 'session-v1' ? 'session-v2' : 'session-v1';
    throw formatErrors.error(
      'FORMAT_OTHER_DIALECT',
      `${name} is not a ${dialect.id} log: all its messages have the form of ${other}. Read it as ${other}.`,
      { details: { file, dialect: other } },
    );
  }
  return first.record;
}

/**
 * Reads a session log of the older dialect (`session-log-v1`): `utterance_ref` is the substance, `caused_by` the cause,
 * `source` the source of a message. Everything else is as in `readSessionV2`.
 *
 * @throws FORMAT_NO_RECORDS, FORMAT_OTHER_DIALECT
 */
export function readSessionV1(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(sessionV1Dialect, source, options);
}

/**
 * Reads a session log (`session-log-v2`): one JSON record per line. Every record keeps its id. The events of a record with
 * several events are `ID`, `ID.1`, `ID.2` …, with its id as their `messageId`. Fields of the record that its events lack
 * are in `data.record` of the first. A result that reports a hook's denial gets a `harness:hook_decision` before it and
 * names it as `via`. Unusual records are kept and reported.
 *
 * @throws FORMAT_NO_RECORDS, FORMAT_OTHER_DIALECT
 */
export function readSessionV2(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(sessionV2Dialect, source, options);
}

/**
 * Reads a log of smallchat, in its last format. A `transcript_edit` is a `session:rewind` of its agent. A text of the person (`fragment` of
 * `user`) is a `smallchat:fragment`, which the message that carries it has as its substance. Everything else is as in `readSessionV2`.
 *
 * @throws FORMAT_NO_RECORDS
 */
export function readSmallchat(source: string | Uint8Array, options: ReadOptions = {}): ReadSession {
  return readSession(smallchatDialect, source, options);
}
