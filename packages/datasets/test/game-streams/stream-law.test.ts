import { describe, expect, it } from 'vitest';
import { compareGame } from './compare-game.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const rounds = 100;

describe(`random games (HANSARD_SEED=${seed})`, () => {
  it('are read from their streams as they were played, and written again to the byte', () => {
    for (let round = 0; round < rounds; round += 1) expect(compareGame(seed + round)).toEqual([]);
  });
});
