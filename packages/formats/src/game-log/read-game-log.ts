import { FormatError } from '@hansard/events';
import { describeDamage } from '../session-records/parse-lines.ts';
import type { GameLogFile, ReadGame, ReadGameOptions } from './game-log-file.ts';
import { createGameWriter, type FirstLine, type GameWriter } from './game-writer.ts';
import { type LogLine, linesInOrder } from './lines-in-order.ts';

/**
 * Reads the files of a game log (`game_events`, `chat`) as games, in the order of time. Each GAME_START begins a game.
 * @throws FORMAT_NO_RECORDS
 */
export function readGameLog(
  files: readonly GameLogFile[],
  { now = Date.now }: ReadGameOptions = {},
): ReadGame[] {
  const lines = linesInOrder(files, now);
  refuseOthers(files, lines);
  const games: GameWriter[] = [];
  /** Lines before the first start belong to the first game. */
  const above: LogLine[] = [];
  for (const line of lines) {
    if (isUnfinished(line)) continue;
    const isStart = line.kind === 'game' && line.eventType === 'GAME_START';
    if (isStart || (games.length === 0 && isOfGame(line))) {
      const begun = createGameWriter(line);
      games.push(begun);
      if (!isStart)
        begun.report(
          line,
          'game_without_start',
          'The log begins in the middle of a game: there is no GAME_START before.',
        );
      for (const earlier of above.splice(0)) begun.add(earlier);
    }
    const game = games.at(-1);
    if (game === undefined) above.push(line);
    else game.add(line);
  }
  for (const line of lines) {
    if (isUnfinished(line)) games.at(-1)?.report(line, line.code, describeDamage(line));
  }
  return games.map((game) => game.finish());
}

function isOfGame(line: LogLine): line is FirstLine {
  return line.kind === 'game' || line.kind === 'chat';
}

/** A truncated line does not belong to a game until it is complete. */
function isUnfinished(line: LogLine): line is Extract<LogLine, { kind: 'damaged' }> {
  return line.kind === 'damaged' && line.code === 'unfinished';
}

function refuseOthers(files: readonly GameLogFile[], lines: readonly LogLine[]): void {
  if (lines.some(isOfGame)) return;
  const name = files.map(({ file = 'The log' }) => file).join(', ');
  throw new FormatError(
    'FORMAT_NO_RECORDS',
    `${name} does not hold any line of a game log: no event_type with a payload, no speaker with a message.`,
    { details: { file: name, lines: lines.length } },
  );
}
