import { isPlainObject, type JsonObject } from '@hansard/events';
import type { FormatOddityCode } from '../format-report.ts';
import { type DamagedLine, parseLines, type RecordLine } from '../session-records/parse-lines.ts';
import type { GameLogFile } from './read-game-log.ts';

interface Place {
  readonly file: string | undefined;
  /** From 1. */
  readonly line: number;
  /** Milliseconds since 1970; where the line has none, that of the line before. */
  readonly time: number;
  /** What is odd about the line by itself. */
  readonly oddities: readonly { readonly code: FormatOddityCode; readonly message: string }[];
}

/** A line of a game log, and what it is by what stands in it. */
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
        readonly isWhisper: boolean;
        readonly record: JsonObject;
      }
    | { readonly kind: 'other'; readonly record: JsonObject }
    | { readonly kind: 'damaged'; readonly problem: string; readonly text: string }
  );

type Content<L> = L extends unknown ? Omit<L, keyof Place> : never;

/** The lines of all files by time. What one file says of one kind stays in its order, whatever its times say. */
export function linesInOrder(files: readonly GameLogFile[], now: () => number): LogLine[] {
  const placed = files.flatMap(({ file, source }) => placeLines(file, source, now));
  // Of the same time: what happens in the game comes before what is said to it.
  placed.sort((a, b) => a.order - b.order || Number(a.isChat) - Number(b.isChat));
  return placed.map(({ line }) => line);
}

function placeLines(file: string | undefined, source: string | Uint8Array, now: () => number) {
  const parsed = parseLines(source);
  const times = parsed.map((line) => (line.kind === 'record' ? timeOf(line.record) : null));
  const first = times.find((time) => time !== null) ?? now();
  const latest: Record<'game' | 'chat', number> = { game: -Infinity, chat: -Infinity };
  let kind: 'game' | 'chat' = 'game';
  let time = first;
  return parsed.map((line, index) => {
    const content = contentOf(line);
    if (content.kind === 'game' || content.kind === 'chat') kind = content.kind;
    const oddities = [...odditiesOf(line)];
    const own = times[index] ?? null;
    if (own === null && line.kind === 'record')
      oddities.push({
        code: 'time_missing',
        message: 'The line has no timestamp with a time zone; it is taken as the line before.',
      });
    if (own !== null && own < latest[kind])
      oddities.push({
        code: 'time_goes_back',
        message: 'The line is older than one above it; it stays below.',
      });
    time = own ?? time;
    latest[kind] = Math.max(latest[kind], time);
    return {
      order: latest[kind],
      isChat: kind === 'chat',
      line: { ...content, file, line: line.line, time, oddities },
    };
  });
}

function contentOf(line: RecordLine | DamagedLine): Content<LogLine> {
  if (line.kind === 'damaged') return { kind: 'damaged', problem: line.problem, text: line.text };
  const { record } = line;
  const { event_type: eventType, payload, speaker, message, agent } = record;
  // A line of the inference trace has these too, and an agent.
  if (typeof eventType === 'string' && isPlainObject(payload) && agent === undefined)
    return { kind: 'game', eventType, payload: payload as JsonObject, record };
  if (typeof speaker === 'string' && typeof message === 'string')
    return { kind: 'chat', speaker, message, isWhisper: record.is_whisper === true, record };
  return { kind: 'other', record };
}

function odditiesOf(line: RecordLine | DamagedLine): Place['oddities'] {
  if (line.kind === 'damaged')
    return [{ code: line.code, message: `${line.problem} It is kept as a notice.` }];
  const isKnown = contentOf(line).kind !== 'other';
  return [
    ...(line.isUtf8
      ? []
      : [
          {
            code: 'not_utf8' as const,
            message: 'The line is not UTF-8: what is not was replaced by U+FFFD.',
          },
        ]),
    ...(isKnown
      ? []
      : [
          {
            code: 'unknown_kind' as const,
            message: 'The line is neither a game event nor chat; it is kept as it is.',
          },
        ]),
  ];
}

/** Only a time that says its zone is one: another would depend on where it is read. */
const zonedTime = /^\d{4}-.*(?:Z|[+-]\d\d:?\d\d)$/;

function timeOf({ timestamp }: JsonObject): number | null {
  if (typeof timestamp !== 'string' || !zonedTime.test(timestamp)) return null;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? null : time;
}
