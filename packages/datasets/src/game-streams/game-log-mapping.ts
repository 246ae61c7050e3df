import type { GameMappingInput } from './game-mapping.ts';

/** The mapping that writes the games of `readGameLog` in `@hansard/formats` as streams again. */
export const gameLogMapping: GameMappingInput = {
  turn: { events: ['game:*'] },
  gameEvents: { events: ['game:*'], payload: 'payload' },
  chat: { utterances: true },
  whispers: { piecesOfText: true },
};
