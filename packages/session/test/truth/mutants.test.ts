import { beforeAll, describe, expect, it } from 'vitest';
import { comparedKinds, compareViews, noComparisons } from './compare-views.ts';
import { mutants } from './mutants.ts';
import type { PlayedSession } from './played-session.ts';
import { playRandomSession } from './random-session.ts';
import { viewsOf } from './views-under-test.ts';

const seeds = Array.from({ length: 20 }, (_, at) => at + 1);

describe('the comparison of the views with the truth', () => {
  const sessions = new Map<number, PlayedSession>();

  beforeAll(async () => {
    for (const seed of seeds) sessions.set(seed, await playRandomSession(seed, 90));
  });

  function foundBy(of: typeof viewsOf): string[] {
    const found = noComparisons();
    for (const [seed, played] of sessions) compareViews(seed, played, of, found);
    return comparedKinds.filter((kind) => found[kind].wrong.length > 0);
  }

  it('finds nothing wrong in the views themselves', () => {
    expect(foundBy(viewsOf)).toEqual([]);
  });

  it.each(mutants)('finds $name', ({ of, caughtBy }) => {
    expect(foundBy(of)).toEqual(expect.arrayContaining([...caughtBy]));
  });
});
