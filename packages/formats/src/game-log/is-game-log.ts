import type { JsonObject } from '@hansard/events';
import { parseLines } from '../session-records/parse-lines.ts';
import { contentOfRecord } from './lines-in-order.ts';

/** Whether a file looks like a game log: most records at its start are lines of one. */
export function isGameLog(start: string | Uint8Array): boolean {
  const records = parseLines(start).flatMap((line) => (line.kind === 'record' ? [line.record] : []));
  return records.filter(isGameLine).length > records.length / 2;
}

/** The streams of a game log file, detected from its start: game events, chat, or both. */
export function isWholeGameLog(start: string | Uint8Array): boolean {
  const kinds = parseLines(start).map((line) =>
    line.kind === 'record' ? contentOfRecord(line.record).kind : line.kind,
  );
  return kinds.includes('game') && kinds.includes('chat');
}

/** The lines of all streams have a time or a turn. */
function isGameLine(record: JsonObject): boolean {
  if (typeof record.timestamp !== 'string' && typeof record.turn !== 'string') return false;
  return contentOfRecord(record).kind !== 'other' || isOfOtherStream(record);
}

/** A line of `agent_actions`, `agent_reasoning` or `inference_trace`, which are kept beside the game. */
function isOfOtherStream({ agent, event_type, action_type, thinking_process }: JsonObject): boolean {
  const isAny = [event_type, action_type, thinking_process].some((value) => typeof value === 'string');
  return typeof agent === 'string' && isAny;
}
