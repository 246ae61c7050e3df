import { branchedLog } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { treeDifference } from './tree-difference.ts';

const seeds = Number(process.env.HANSARD_TREE_SEEDS ?? 2_000);

describe('the tree of a random log', () => {
  it(`has the paths, branches and next prompts that its writer kept as lists (${seeds} seeds)`, () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const found = treeDifference(branchedLog({ seed, length: 48 }));
      if (found !== null) expect({ seed, ...found }).toBeNull();
    }
  });
});
