import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { createNameFinder } from '../../../src/judging/names/name-finder.ts';
import { replaceInRow } from './name-checks.ts';
import { plantText } from './planted-names.ts';

describe('names in random spellings in random texts', () => {
  it('are all found, and nothing else', () => {
    const seed = Number(process.env.HANSARD_SEED ?? 20_261_123);
    const random = randomFrom(seed);
    let planted = 0;
    for (let round = 0; round < 600; round += 1) {
      const text = plantText(random);
      planted += text.planted;
      expect(
        replaceInRow(createNameFinder, text),
        `HANSARD_SEED=${seed}, round ${round}: ${JSON.stringify([text.cast, text.text])}`,
      ).toBe(text.hidden);
    }
    expect(planted).toBeGreaterThan(3000);
  });
});
