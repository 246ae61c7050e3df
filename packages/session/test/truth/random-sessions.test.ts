import { expect, it } from 'vitest';
import { compare, comparedKinds, noComparisons } from './compare-views.ts';
import { playRandomSession } from './random-session.ts';
import { viewsOf } from './views-under-test.ts';

const seeds = Array.from({ length: 100 }, (_, at) => at + 1);
const steps = 90;

/** So many of each must have been compared, so that nothing passes because nothing happened. */
const least = {
  cells: 15_000,
  'never heard': 3_000,
  causes: 1_800,
  links: 5_000,
  effects: 4_000,
  known: 1_200,
  given: 1_200,
  reconstructed: 1_200,
  perspective: 300,
  outcomes: 500,
  awaited: 30_000,
  prompts: 1_200,
  'prompts again': 2_400,
} as const;

it('says of 100 random sessions, with messages that arrive during answers, only what happened in them', async () => {
  const found = noComparisons();
  let races = 0;
  for (const seed of seeds) {
    const played = await playRandomSession(seed, steps);
    races += played.races;
    compare(seed, played, viewsOf, found);
  }
  const wrong = comparedKinds.map((kind) => [kind, found[kind].wrong.length, found[kind].wrong.slice(0, 3)]);
  expect(wrong).toEqual(comparedKinds.map((kind) => [kind, 0, []]));
  for (const kind of comparedKinds) expect(found[kind].compared, kind).toBeGreaterThan(least[kind]);
  expect(races).toBeGreaterThan(1_000);
});
