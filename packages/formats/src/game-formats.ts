import {
  type GameLogFile,
  type ReadGame,
  type ReadGameOptions,
  readGameLog,
} from './game-log/read-game-log.ts';
import { readWerewolfMatch } from './werewolf-match/read-werewolf-match.ts';

export type GameFormatId = 'game-log' | 'werewolf-match';

/** A format of recorded games, for those who choose one by its id. Each game is a dispatch of its own. */
export interface GameFormat {
  readonly id: GameFormatId;
  readonly read: (files: readonly GameLogFile[], options?: ReadGameOptions) => ReadGame[];
}

export const gameFormats: Readonly<Record<GameFormatId, GameFormat>> = {
  'game-log': { id: 'game-log', read: readGameLog },
  'werewolf-match': {
    id: 'werewolf-match',
    read: (files, options) =>
      files.map(({ source, file }) =>
        readWerewolfMatch(source, { ...options, ...(file === undefined ? {} : { file }) }),
      ),
  },
};
