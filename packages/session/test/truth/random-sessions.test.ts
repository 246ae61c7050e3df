import { interruption } from '@hansard/views';
import { expect, it } from 'vitest';
import { compareSeed, type TruthStore } from './compare-seed.ts';
import { comparedKinds, noComparisons } from './compare-views.ts';

/** So many seeds in each store. `scripts/campaigns/truth.ts` compares more. */
const seedsInEach = 300;

/** So many of each must have been compared, so that nothing passes because nothing happened. */
const least = {
  cells: 30_000,
  'never heard': 6_000,
  causes: 4_000,
  links: 7_000,
  effects: 6_000,
  asked: 4_000,
  known: 3_000,
  given: 3_000,
  reconstructed: 3_000,
  perspective: 1_000,
  outcomes: 2_000,
  awaited: 60_000,
  prompts: 3_000,
  'prompts again': 6_000,
} as const;

it.each<[TruthStore, firstSeed: number]>([
  ['memory', 1],
  ['jsonfile', 301],
  ['sqlite', 601],
])(
  'says of 300 random sessions in a store of %s, from seed %d, only what happened in them',
  async (store, firstSeed) => {
    const found = noComparisons();
    const onResults = { alter: 0, deny: 0 };
    const happened = { crashes: 0, interrupted: 0, besides: 0, failures: 0 };
    for (let seed = firstSeed; seed < firstSeed + seedsInEach; seed += 1) {
      const { truth, events, races, crashes, besides } = await compareSeed(seed, store, found);
      expect(truth.agents.size, `agents of seed ${seed}`).toBeGreaterThanOrEqual(3);
      expect(events.length, `events of seed ${seed}`).toBeGreaterThanOrEqual(60);
      expect(races, `races of seed ${seed}`).toBeGreaterThanOrEqual(1);
      happened.crashes += crashes;
      happened.besides += besides;
      for (const { type, data } of events)
        if (type === 'agent:tool_result' && data.output === interruption) happened.interrupted += 1;
        else if (type === 'agent:tool_result' && data.status === 'error') happened.failures += 1;
      for (const { on, decision } of truth.decisions) if (on === 'tool_result') onResults[decision] += 1;
    }
    const wrong = comparedKinds.map((kind) => [
      kind,
      found[kind].wrong.length,
      found[kind].wrong.slice(0, 3),
    ]);
    expect(wrong).toEqual(comparedKinds.map((kind) => [kind, 0, []]));
    const compared = comparedKinds.map((kind) => [kind, found[kind].compared]);
    const tooFew = comparedKinds.filter((kind) => found[kind].compared < least[kind]);
    expect(tooFew, JSON.stringify(compared)).toEqual([]);
    expect(happened.crashes).toBeGreaterThanOrEqual(90);
    expect(happened.interrupted).toBeGreaterThanOrEqual(60);
    expect(happened.besides).toBeGreaterThanOrEqual(250);
    expect(happened.failures).toBeGreaterThanOrEqual(500);
    expect(onResults.alter).toBeGreaterThanOrEqual(300);
    expect(onResults.deny).toBeGreaterThanOrEqual(200);
  },
  240_000,
);
