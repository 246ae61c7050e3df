import type { CapturedEvent } from '@hansard/events';
import { FormatError } from '../format-error.ts';
import type { FormatReport } from '../format-report.ts';
import { createGameWriter, type GameWriter } from './game-writer.ts';
import { type LogLine, linesInOrder } from './lines-in-order.ts';

/** A file of a game log, or several in one; which stream it is, its lines show. */
export interface GameLogFile {
  /** How messages and oddities call it. */
  readonly file?: string;
  readonly source: string | Uint8Array;
}

/** One game as the events of one dispatch. */
export interface ReadGame {
  readonly events: readonly CapturedEvent[];
  readonly report: FormatReport;
  /** Whether the log says how the game ended. */
  readonly isComplete: boolean;
}

export interface ReadGameOptions {
  /** Milliseconds since 1970: the time of what has none. */
  readonly now?: () => number;
}

/**
 * Reads the files of a game log (`game_events`, `chat`) as the games that they hold, in the order of their time. Each
 * GAME_START begins a game.
 * @throws FORMAT_NO_RECORDS
 */
export function readGameLog(
  files: readonly GameLogFile[],
  { now = Date.now }: ReadGameOptions = {},
): ReadGame[] {
  const lines = linesInOrder(files, now);
  refuseOthers(files, lines);
  const games: GameWriter[] = [];
  for (const line of lines) {
    const isStart = line.kind === 'game' && line.eventType === 'GAME_START';
    const game = isStart ? undefined : games.at(-1);
    if (game !== undefined) game.add(line);
    else {
      const begun = createGameWriter();
      games.push(begun);
      if (!isStart)
        begun.report(
          line,
          'game_without_start',
          'The log begins in the midst of a game: no GAME_START before.',
        );
      begun.add(line);
    }
  }
  return games.map((game) => game.finish());
}

function refuseOthers(files: readonly GameLogFile[], lines: readonly LogLine[]): void {
  if (lines.some(({ kind }) => kind === 'game' || kind === 'chat')) return;
  const name = files.map(({ file = 'The log' }) => file).join(', ');
  throw new FormatError(
    'FORMAT_NO_RECORDS',
    `${name} holds no line of a game log: no event_type with a payload, no speaker with a message.`,
    { details: { file: name, lines: lines.length } },
  );
}
