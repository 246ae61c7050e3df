import { interruption } from '@hansard/prompt';
import { expect, it } from 'vitest';
import { compareSeed } from './compare-seed.ts';
import { comparedKinds, noComparisons } from './compare-views.ts';
import type { TruthStore } from './concurrent/truth-store.ts';

/** The number of each that must have been compared in 100 sessions, so that nothing passes because nothing happened. */
const least = {
  cells: 10_000,
  'never heard': 2_000,
  audience: 2_000,
  causes: 1_300,
  links: 2_300,
  effects: 2_000,
  asked: 1_300,
  known: 1_000,
  given: 1_000,
  reconstructed: 1_000,
  perspective: 330,
  outcomes: 660,
  awaited: 20_000,
  prompts: 1_000,
  'prompts again': 2_000,
} as const;

// The views are the same for every store. `scripts/campaigns/truth.ts` compares more seeds.
it.each<[seeds: number, TruthStore, firstSeed: number]>([
  [100, 'memory', 1],
  [25, 'jsonfile', 101],
  [25, 'sqlite', 201],
])(
  'says of %d random sessions in a store of %s, from seed %d, only what happened in them',
  async (seeds, store, firstSeed) => {
    const share = seeds / 100;
    const found = noComparisons();
    const onResults = { alter: 0, deny: 0 };
    const happened = { crashes: 0, interrupted: 0, besides: 0, failures: 0 };
    for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
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
    const tooFew = comparedKinds.filter((kind) => found[kind].compared < least[kind] * share);
    expect(tooFew, JSON.stringify(compared)).toEqual([]);
    // What happens is chosen without regard to the store, and is too rare to be counted in few sessions.
    if (store !== 'memory') return;
    expect(happened.crashes).toBeGreaterThanOrEqual(30);
    expect(happened.interrupted).toBeGreaterThanOrEqual(20);
    expect(happened.besides).toBeGreaterThanOrEqual(80);
    expect(happened.failures).toBeGreaterThanOrEqual(160);
    expect(onResults.alter).toBeGreaterThanOrEqual(100);
    expect(onResults.deny).toBeGreaterThanOrEqual(65);
  },
  240_000,
);
