import {
  type CapturedEvent,
  definedOnly,
  eventProblem,
  FormatError,
  type JsonObject,
  type JsonValue,
  messageOf,
  toTimestamp,
} from '@hansard/events';
import type { FormatDiagnostic, FormatReport } from '../format-diagnostic.ts';
import { findDiagnostics } from './find-diagnostics.ts';
import { type LogOrigin, originOf } from './log-origin.ts';
import { type DamagedLine, describeDamage, fileName, parseLines, type RecordLine } from './parse-lines.ts';
import { recordEvents } from './record-events.ts';
import { createRecordNames } from './record-names.ts';
import { remainderOf } from './remainder.ts';
import { isForeignEntry, recordKind, type SessionDialect } from './session-dialect.ts';
import type { SessionEntry, SessionReading } from './session-reading.ts';
import { deriveRecords } from './writing/derive-records.ts';

export interface ReadOptions {
  /** The name of the log in messages and diagnostics. */
  readonly file?: string;
  /** Milliseconds since 1970. Records have no times, so this is the time of all events. */
  readonly now?: () => number;
}

/**
 * A session log as events, in the order of its lines. A log that has grown gives the same events and then more, except
 * for their time.
 */
export interface ReadSession {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  readonly origin: LogOrigin;
}

export function readSession(
  dialect: SessionDialect,
  source: string | Uint8Array,
  { file, now = Date.now }: ReadOptions,
): ReadSession {
  const lines = parseLines(source);
  const records = lines.filter((line) => line.kind === 'record');
  const firstRecord = refuseOthers(dialect, records, lines.length, file);

  const diagnostics: FormatDiagnostic[] = [];
  const names = createRecordNames();
  const timestamp = toTimestamp(now());
  const reading: SessionReading = {
    dialect,
    timestamp,
    names,
    calls: new Map(),
    severalCalls: new Map(),
    agentsByName: new Map(),
    utterances: new Map(),
    pieces: new Map(),
    report: (line, code, message) => diagnostics.push({ code, line, message, ...definedOnly({ file }) }),
  };

  const entries: SessionEntry[] = [];
  const events = lines.flatMap((line) => {
    if (line.kind === 'damaged') {
      reading.report(line.line, line.code, describeDamage(line));
      return line.code === 'unfinished' ? [] : [noticeOf(reading, line, file)];
    }
    const { record } = line;
    const agentId = names.agentId(record.agent_id);
    const entry = { line, record, kind: recordKind(dialect, record), id: names.idOf(line), agentId };
    entries.push(entry);
    return recordableEvents(reading, entry, file);
  });
  findDiagnostics(reading, entries);
  diagnostics.sort((a, b) => a.line - b.line);
  return {
    events: keepRemainders(dialect, events, entries),
    report: { records: records.length, diagnostics },
    origin: originOf(firstRecord, file),
  };
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
  const { timestamp } = reading;
  return [{ id, type: 'system:notice', timestamp, data: noticeData(problem, line.line, record, file) }];
}

function noticeData(problem: string, line: number, raw: JsonValue, file: string | undefined): JsonObject {
  return { problem, ...(file === undefined ? {} : { file: fileName(file) }), line, raw };
}

/** Puts the fields of each record that its events lack into its first event. */
function keepRemainders(
  dialect: SessionDialect,
  events: readonly CapturedEvent[],
  entries: readonly SessionEntry[],
): CapturedEvent[] {
  const originals = new Map<string, JsonObject>(
    entries.filter(({ kind }) => kind !== null).map(({ id, record }) => [id, record]),
  );
  const remainders = new Map(
    deriveRecords(dialect, events).flatMap(({ record, events: [first] }) => {
      const original = originals.get(first.id);
      const remainder = original === undefined ? null : remainderOf(record, original);
      return remainder === null ? [] : [[first.id, { format: dialect.id, ...remainder }] as const];
    }),
  );
  return events.map((event) => {
    const record = remainders.get(event.id);
    return record === undefined ? event : { ...event, data: { ...event.data, record } };
  });
}

function noticeOf(
  { names, timestamp }: SessionReading,
  { line, problem, text }: DamagedLine,
  file: string | undefined,
): CapturedEvent {
  return {
    id: names.newId(`line-${line}`),
    type: 'system:notice',
    timestamp,
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
    throw new FormatError('FORMAT_NO_RECORDS', message, {
      details: { file, lines: lineCount },
    });
  }
  if (entries.length > 0 && entries.every(({ record }) => isForeignEntry(dialect, record))) {
    const other = dialect.id === 'session-v1' ? 'session-v2' : 'session-v1';
    throw new FormatError(
      'FORMAT_OTHER_DIALECT',
      `${name} is not a ${dialect.id} log: all its messages have the form of ${other}. Read it as ${other}.`,
      { details: { file, dialect: other } },
    );
  }
  return first.record;
}
