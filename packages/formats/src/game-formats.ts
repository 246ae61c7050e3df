import { definedOnly } from '@hansard/events';
import { type GameLogFile, isGameLog, type ReadGame } from './games/game-lines.ts';
import { readGameLog } from './games/read-game-log.ts';
import { isWerewolfMatch, readWerewolfMatch } from './werewolf-match/read-werewolf-match.ts';

export type GameFormatId = 'game-log' | 'werewolf-match';

export const gameFormats: Readonly<
  Record<
    GameFormatId,
    {
      readonly id: GameFormatId;
      readonly read: (files: readonly GameLogFile[]) => ReadGame[];
    }
  >
> = {
  'game-log': { id: 'game-log', read: readGameLog },
  'werewolf-match': {
    id: 'werewolf-match',
    read: (files) => files.map(({ source, file }) => readWerewolfMatch(source, definedOnly({ file }))),
  },
};

/** The format of a recorded game, detected from the start of its file; null if it is not a game. A match needs its whole file. */
export function detectGameFormat(start: string): GameFormatId | null {
  if (isGameLog(start)) return 'game-log';
  return isWerewolfMatch(start) ? 'werewolf-match' : null;
}
