import { type CapturedEvent, isPlainObject, type JsonObject } from '@hansard/events';
import type { FormatDiagnosticCode, FormatReport } from '../lines/format-diagnostic.ts';
import { type LogOrigin, timeOf } from '../lines/log-origin.ts';
import { type DamagedLine, describeDamage, parseLines, type SessionLine } from '../lines/parse-lines.ts';

/** A file of a game log. Its lines show which streams it holds. */
export interface GameLogFile {
  /** Its name in messages and diagnostics. */
  readonly file?: string;
  readonly source: string | Uint8Array;
}

/**
 * One game as the events of one dispatch. When the log has grown, each game has the same events and then more. The event of a
 * line without a time has no time.
 */
export interface ReadGame {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  /** Whether the log has the end of the game. */
  readonly isComplete: boolean;
  readonly origin: LogOrigin;
}

interface Place {
  readonly file: string | undefined;
  /** The number of the file among those of the log, from 0. */
  readonly source: number;
  /** With the line end. */
  readonly bytes: number;
  /** From 1. */
  readonly line: number;
  /**
   * Decides the order, and which lines are of one moment: milliseconds since 1970. A line without a time has the place of the line
   * before, or of the first line with a time.
   */
  readonly order: number;
  /** The time that the line states, in milliseconds since 1970. Null: it states none. */
  readonly time: number | null;
  /** The run that the line names, or the last line of a stream above it; null: none. */
  readonly run: string | null;
  /** The problem of the line itself, if any. */
  readonly diagnostics: readonly { readonly code: FormatDiagnosticCode; readonly message: string }[];
}

/** A line of a game log, with its kind according to its content. */
export type LogLine = Place &
  (
    | GameRecord
    | {
        readonly kind: 'damaged';
        readonly code: DamagedLine['code'];
        readonly problem: string;
        readonly text: string;
      }
  );

/** A line of one of some kinds. */
export type LineOf<K extends LogLine['kind']> = Extract<LogLine, { kind: K }>;

/** A line of one of the five streams. */
export type StreamLogLine = LineOf<StreamKind>;

type Content<L> = L extends unknown ? Omit<L, keyof Place> : never;

/** The lines of all files by time. Lines of one file, stream and run keep their order, whatever their times. */
export function linesInOrder(files: readonly GameLogFile[]): LogLine[] {
  const parsed = files.map(({ file, source }) => ({ file, lines: parseLines(source) }));
  const start = parsed.map(({ lines }) => firstTime(lines)).reduce(earlier, null) ?? 0;
  const placed = parsed.flatMap(({ file, lines }, source) =>
    placeLines({ file, source }, lines, firstTime(lines) ?? start),
  );
  // For equal times: a file keeps its order, and the files follow the order of their streams.
  placed.sort((a, b) => a.order - b.order || a.rank - b.rank);
  return placed.map(({ line }) => line);
}

/** At the same time, what happens in the game comes first, then a thought, the call, and what the call did or said. */
const ranks: Readonly<Record<StreamKind, number>> = { game: 0, thought: 1, trace: 2, action: 3, chat: 4 };

function placeLines(of: Pick<Place, 'file' | 'source'>, lines: readonly SessionLine[], first: number) {
  const latest = new Map<string, number>();
  const rank = rankOf(lines);
  let kind: StreamKind = 'game';
  let run: string | null = null;
  let latestTime = first;
  return lines.map((line) => {
    const content = contentOf(line);
    if (isOfStream(content)) {
      kind = content.kind;
      run = runIn(content.record);
    }
    const key = `${kind} ${run ?? ''}`;
    const before = latest.get(key) ?? -Infinity;
    const diagnostics = [...diagnosticsOf(line)];
    const own = lineTime(line);
    if (own === null && line.kind === 'record')
      diagnostics.push({
        code: 'time_missing',
        message: 'The line has no timestamp with a time zone; its event has no time.',
      });
    if (own !== null && own < before)
      diagnostics.push({
        code: 'time_goes_back',
        message: 'The line is older than one above it; the order is kept.',
      });
    latestTime = own ?? latestTime;
    const order = Math.max(before, latestTime);
    latest.set(key, order);
    const place = { order: latestTime, time: own };
    const { bytes } = line;
    return { order, rank, line: { ...content, ...of, line: line.line, bytes, ...place, run, diagnostics } };
  });
}

/** The rank of a file is that of its first stream. */
function rankOf(lines: readonly SessionLine[]): number {
  const found = lines.map(contentOf).filter(isOfStream);
  return Math.min(ranks.chat, ...new Set(found.map(({ kind }) => ranks[kind])));
}

/** Whether a line is one of the five streams. */
export function isOfStream<L extends { readonly kind: LogLine['kind'] }>(
  line: L,
): line is Extract<L, { kind: StreamKind }> {
  return line.kind !== 'other' && line.kind !== 'damaged';
}

function runIn({ run_id: run }: JsonObject): string | null {
  return typeof run === 'string' ? run : null;
}

function firstTime(lines: readonly SessionLine[]): number | null {
  for (const line of lines) {
    const time = lineTime(line);
    if (time !== null) return time;
  }
  return null;
}

function lineTime(line: SessionLine): number | null {
  return line.kind === 'record' ? timeOf(line.record) : null;
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function contentOf(line: SessionLine): Content<LogLine> {
  return line.kind === 'damaged' ? line : gameRecordOf(line.record);
}

function otherName(line: SessionLine): string {
  return line.kind === 'record' && isTrainingPair(line.record)
    ? 'a pair for training'
    : 'of none of the five streams';
}

function diagnosticsOf(line: SessionLine): Place['diagnostics'] {
  if (line.kind === 'damaged') return [{ code: line.code, message: describeDamage(line) }];
  const isKnown = contentOf(line).kind !== 'other';
  return [
    ...(line.isUtf8
      ? []
      : [
          {
            code: 'not_utf8' as const,
            message: 'The line is not UTF-8; invalid bytes were replaced by U+FFFD.',
          },
        ]),
    ...(isKnown
      ? []
      : [
          {
            code: 'unknown_kind' as const,
            message: `The line is ${otherName(line)}; it is kept unchanged.`,
          },
        ]),
  ];
}

/** Whether a file looks like a game log: most records at its start are lines of its streams. */
export function isGameLog(start: string | Uint8Array): boolean {
  const { records, known } = gameShares(start);
  return known > records / 2;
}

/** Whether the start of a file has both game events and chat, so that the file is a log by itself. */
export function isWholeGameLog(start: string | Uint8Array): boolean {
  const kinds = parseLines(start).map((line) => contentOf(line).kind);
  return kinds.includes('game') && kinds.includes('chat');
}

/** How many records a file has, and how many of them are lines of the five streams with a time or a turn. */
export function gameShares(source: string | Uint8Array): {
  readonly records: number;
  readonly known: number;
} {
  const records = parseLines(source).flatMap((line) => (line.kind === 'record' ? [line.record] : []));
  const known = records.filter((record) => isOfStream(gameRecordOf(record)) && hasPlace(record));
  return { records: records.length, known: known.length };
}

/** A record of a game log, as the stream that its keys show (2.1 to 2.5 of the specification of game logs). */
type GameRecord =
  | {
      readonly kind: 'game';
      readonly eventType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | {
      readonly kind: 'chat';
      readonly speaker: string;
      readonly message: string;
      /** The receivers; null for all, empty if the log does not name them. */
      readonly to: readonly string[] | null;
      readonly record: JsonObject;
    }
  | {
      readonly kind: 'action';
      readonly agent: string;
      readonly actionType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | { readonly kind: 'thought'; readonly agent: string; readonly text: string; readonly record: JsonObject }
  | {
      readonly kind: 'trace';
      readonly agent: string;
      readonly eventType: string;
      readonly payload: JsonObject;
      readonly record: JsonObject;
    }
  | { readonly kind: 'other'; readonly record: JsonObject };

/** The streams of a game log that are read as events. Lines of each file and stream keep their order. */
type StreamKind = Exclude<GameRecord['kind'], 'other'>;

/** The stream of a record. */
function gameRecordOf(record: JsonObject): GameRecord {
  const { event_type: eventType, action_type: actionType, thinking_process: text, payload } = record;
  const { speaker, message, agent } = record;
  if (typeof agent === 'string') {
    if (typeof text === 'string') return { kind: 'thought', agent, text, record };
    if (isPlainObject(payload)) {
      const content = { agent, payload: payload as JsonObject, record };
      if (typeof actionType === 'string') return { kind: 'action', actionType, ...content };
      if (typeof eventType === 'string') return { kind: 'trace', eventType, ...content };
    }
  }
  // A line of the inference trace has these too, and an agent.
  if (typeof eventType === 'string' && isPlainObject(payload) && agent === undefined)
    return { kind: 'game', eventType, payload: payload as JsonObject, record };
  if (typeof speaker === 'string' && typeof message === 'string')
    return { kind: 'chat', speaker, message, to: receiversIn(record), record };
  return { kind: 'other', record };
}

function receiversIn({ to, is_whisper: isWhisper }: JsonObject): string[] | null {
  if (Array.isArray(to)) return to.filter((name): name is string => typeof name === 'string');
  return isWhisper === true ? [] : null;
}

/** Whether a record is a pair for supervised fine-tuning. Such rows belong to a game, and are not events of it. */
export function isTrainingPair({ prompt, completion, metadata }: JsonObject): boolean {
  return (
    typeof prompt === 'string' &&
    typeof completion === 'string' &&
    isPlainObject(metadata) &&
    ('game_id' in metadata || 'agent_name' in metadata)
  );
}

/** The lines of all streams have a time, which an export writes as null if it is not recorded, or a turn. */
function hasPlace({ timestamp, turn }: JsonObject): boolean {
  return typeof timestamp === 'string' || timestamp === null || typeof turn === 'string';
}
