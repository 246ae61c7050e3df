import { branchedLog } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import * as views from '../../src/index.ts';
import { wrongView } from './branched-views.ts';

const seeds = Number(process.env.HANSARD_TREE_SEEDS ?? 1_000);

describe('agents that talk to each other, go back, and are taken back', () => {
  it(`knew and heard what the writer of a random log says (${seeds} seeds)`, () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const found = wrongView(branchedLog({ seed, length: 60, talks: true }), views);
      if (found !== null) expect({ seed, ...found }).toBeNull();
    }
  });
});
