import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { expect, it } from 'vitest';
import { compare, comparedKinds, noComparisons } from './compare-views.ts';
import { playRandomSession } from './random-session.ts';
import { viewsOf } from './views-under-test.ts';

/** `HANSARD_TRUTH_SEEDS=10000 HANSARD_TRUTH_STORE=sqlite` compares more of them, in another store. */
const count = Number(process.env.HANSARD_TRUTH_SEEDS ?? 300);
const storeName = process.env.HANSARD_TRUTH_STORE ?? 'memory';
const seeds = Array.from({ length: count }, (_, at) => at + 1);
const steps = 64;

const stores: Readonly<Record<string, (root: string) => DispatchStoreProvider>> = {
  memory: () => createMemoryStore(),
  jsonfile: (root) => openJsonFileStore({ root }),
  sqlite: (root) => openSqliteStore({ path: join(root, 'log.db') }),
};

/** So many of each must have been compared for each 300 seeds, so that nothing passes because nothing happened. */
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
  outcomes: 1_500,
  awaited: 60_000,
  prompts: 3_000,
  'prompts again': 6_000,
} as const;

it(
  `says of ${count} random sessions in a ${storeName} store only what happened in them`,
  async () => {
    const open = stores[storeName];
    if (open === undefined)
      throw new TypeError(`There is no store ${storeName}: use ${Object.keys(stores)}.`);
    const found = noComparisons();
    for (const seed of seeds) {
      const root = storeName === 'memory' ? '' : mkdtempSync(join(tmpdir(), 'hansard-truth-'));
      try {
        const played = await playRandomSession(seed, steps, open(root));
        expect(played.truth.agents.size, `agents of seed ${seed}`).toBeGreaterThanOrEqual(3);
        expect(played.events.length, `events of seed ${seed}`).toBeGreaterThanOrEqual(60);
        expect(played.races, `races of seed ${seed}`).toBeGreaterThanOrEqual(1);
        compare(seed, played, viewsOf, found);
      } finally {
        if (root !== '') rmSync(root, { recursive: true });
      }
    }
    const wrong = comparedKinds.map((kind) => [
      kind,
      found[kind].wrong.length,
      found[kind].wrong.slice(0, 3),
    ]);
    expect(wrong).toEqual(comparedKinds.map((kind) => [kind, 0, []]));
    const compared = comparedKinds.map((kind) => [kind, found[kind].compared]);
    const tooFew = comparedKinds.filter((kind) => found[kind].compared < (least[kind] * count) / 300);
    expect(tooFew, JSON.stringify(compared)).toEqual([]);
  },
  Math.max(60_000, count * 500),
);
