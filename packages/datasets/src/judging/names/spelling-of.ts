import { fold } from './fold.ts';

const separators = /[\s_\p{Pd}]+/gu;

/** The normalised form of a name: equal for `Player 1`, `player_1` and `PLAYER1`, and for all encodings of `José`. */
export function spellingOf(name: string): string {
  const { folded } = fold(name.trim());
  return folded.replace(separators, '') || folded;
}
