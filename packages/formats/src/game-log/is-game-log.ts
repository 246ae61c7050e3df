import type { JsonObject } from '@hansard/events';
import { parseLines } from '../session-records/parse-lines.ts';
import { contentOfRecord } from './lines-in-order.ts';
import { hasPlace, otherStreamOf } from './other-streams.ts';

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
