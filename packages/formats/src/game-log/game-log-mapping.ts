import type { GameMappingInput } from '../game-streams/game-mapping.ts';

/** How the games that `readGameLog` reads are written as streams again. */
export const gameLogMapping: GameMappingInput = {
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'], payload: 'payload' },
  chat: { utterances: true },
  whispers: { piecesOfText: true },
};
