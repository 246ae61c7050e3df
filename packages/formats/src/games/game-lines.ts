import { type CapturedEvent, isPlainObject, type JsonObject } from '@hansard/events';
import type { FormatDiagnosticCode, FormatReport } from '../lines/format-diagnostic.ts';
import { type LogOrigin, timeOf } from '../lines/log-origin.ts';
import { type DamagedLine, describeDamage, parseLines, type SessionLine } from '../lines/parse-lines.ts';

/** The streams of the specification that are not read yet. Beside a game the lines of the first three are kept as records. */
type OtherStream = 'agent_actions' | 'agent_reasoning' | 'inference_trace' | 'sft_dataset';

/** The stream that a record is a line of, if it is one beside the game; null: none. */
export function otherStreamOf(record: JsonObject): OtherStream | null {
  const { prompt, completion, metadata, agent, event_type, action_type, thinking_process, payload } = record;
  if (typeof prompt === 'string' && typeof completion === 'string' && isPlainObject(metadata))
    return 'game_id' in metadata || 'agent_name' in metadata ? 'sft_dataset' : null;
  if (!hasPlace(record) || typeof agent !== 'string') return null;
  if (typeof thinking_process === 'string') return 'agent_reasoning';
  if (typeof action_type === 'string') return 'agent_actions';
  return typeof event_type === 'string' && isPlainObject(payload) ? 'inference_trace' : null;
}

/** The lines of all streams have a time or a turn. */
function hasPlace({ timestamp, turn }: JsonObject): boolean {
  return typeof timestamp === 'string' || typeof turn === 'string';
}

/** A file of a game log. Its lines show which streams it holds. */
export interface GameLogFile {
  /** Its name in messages and diagnostics. */
  readonly file?: string;
  readonly source: string | Uint8Array;
}

/**
 * One game as the events of one dispatch. When the log has grown, each game has the same events and then more. In a log
 * without times, the times of the events may differ.
 */
export interface ReadGame {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  /** Whether the log has the end of the game. */
  readonly isComplete: boolean;
  readonly origin: LogOrigin;
}

export interface ReadGameOptions {
  /** Milliseconds since 1970: the time of a log without any time. */
  readonly now?: () => number;
}

interface Place {
  readonly file: string | undefined;
  /** From 1. */
  readonly line: number;
  /** Milliseconds since 1970. A line without a time has that of the line before, or of the first line with a time. */
  readonly time: number;
  /** The problem of the line itself, if any. */
  readonly diagnostics: readonly { readonly code: FormatDiagnosticCode; readonly message: string }[];
}

/** A line of a game log, with its kind according to its content. */
export type LogLine = Place &
  (
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
    | { readonly kind: 'other'; readonly record: JsonObject }
    | {
        readonly kind: 'damaged';
        readonly code: DamagedLine['code'];
        readonly problem: string;
        readonly text: string;
      }
  );

type Content<L> = L extends unknown ? Omit<L, keyof Place> : never;

/** The lines of all files by time. Lines of one file and kind keep their order, whatever their times. */
export function linesInOrder(files: readonly GameLogFile[], now: () => number): LogLine[] {
  const parsed = files.map(({ file, source }) => ({ file, lines: parseLines(source) }));
  const start = parsed.map(({ lines }) => firstTime(lines)).reduce(earlier, null) ?? now();
  const placed = parsed.flatMap(({ file, lines }) => placeLines(file, lines, firstTime(lines) ?? start));
  // For equal times: a file keeps its order, and files of game events come before files of chat only.
  placed.sort((a, b) => a.order - b.order || Number(a.isOfChatFile) - Number(b.isOfChatFile));
  return placed.map(({ line }) => line);
}

function placeLines(file: string | undefined, lines: readonly SessionLine[], first: number) {
  const latest: Record<'game' | 'chat', number> = { game: -Infinity, chat: -Infinity };
  const isOfChatFile = isChatFile(lines);
  let kind: 'game' | 'chat' = 'game';
  let time = first;
  return lines.map((line) => {
    const content = contentOf(line);
    if (content.kind === 'game' || content.kind === 'chat') kind = content.kind;
    const diagnostics = [...diagnosticsOf(line)];
    const own = lineTime(line);
    if (own === null && line.kind === 'record')
      diagnostics.push({
        code: 'time_missing',
        message: 'The line has no timestamp with a time zone; it gets the time of the line before.',
      });
    if (own !== null && own < latest[kind])
      diagnostics.push({
        code: 'time_goes_back',
        message: 'The line is older than one above it; the order is kept.',
      });
    time = own ?? time;
    latest[kind] = Math.max(latest[kind], time);
    return {
      order: latest[kind],
      isOfChatFile,
      line: { ...content, file, line: line.line, time, diagnostics },
    };
  });
}

function isChatFile(lines: readonly SessionLine[]): boolean {
  const kinds = new Set(lines.map((line) => contentOf(line).kind));
  return kinds.has('chat') && !kinds.has('game');
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
  return line.kind === 'damaged' ? line : contentOfRecord(line.record);
}

/** The kind of a record in a game log. */
function contentOfRecord(record: JsonObject): Exclude<Content<LogLine>, { kind: 'damaged' }> {
  const { event_type: eventType, payload, speaker, message, agent } = record;
  // A line of the inference trace has these too, and an agent.
  if (typeof eventType === 'string' && isPlainObject(payload) && agent === undefined)
    return { kind: 'game', eventType, payload: payload as JsonObject, record };
  if (typeof speaker === 'string' && typeof message === 'string')
    return { kind: 'chat', speaker, message, to: recipientsOf(record), record };
  return { kind: 'other', record };
}

function recipientsOf({ to, is_whisper: isWhisper }: JsonObject): string[] | null {
  if (Array.isArray(to)) return to.filter((name): name is string => typeof name === 'string');
  return isWhisper === true ? [] : null;
}

function otherName(line: SessionLine): string {
  const stream = line.kind === 'record' ? otherStreamOf(line.record) : null;
  return stream === null ? 'neither a game event nor chat' : `of the stream ${stream}, which is not read yet`;
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
  const { records, game, chat, other } = gameShares(start);
  return game + chat + other > records / 2;
}

/** The streams of a game log file, detected from its start: game events, chat, or both. */
export function isWholeGameLog(start: string | Uint8Array): boolean {
  const kinds = parseLines(start).map((line) =>
    line.kind === 'record' ? contentOfRecord(line.record).kind : line.kind,
  );
  return kinds.includes('game') && kinds.includes('chat');
}

/** How many records a file has, and how many are of each kind that a game log has. `other`: of a stream beside the game. */
interface GameShares {
  readonly records: number;
  readonly game: number;
  readonly chat: number;
  readonly other: number;
}

export function gameShares(source: string | Uint8Array): GameShares {
  const shares = { records: 0, game: 0, chat: 0, other: 0 };
  for (const line of parseLines(source)) {
    if (line.kind !== 'record') continue;
    shares.records += 1;
    const { record } = line;
    const { kind } = contentOfRecord(record);
    if (kind === 'other') shares.other += Number(isBesideGame(record));
    else if (hasPlace(record)) shares[kind] += 1;
  }
  return shares;
}

function isBesideGame(record: JsonObject): boolean {
  const stream = otherStreamOf(record);
  return stream !== null && stream !== 'sft_dataset';
}
