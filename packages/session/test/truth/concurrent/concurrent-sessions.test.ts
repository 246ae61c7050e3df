import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { createMemoryStore } from '@hansard/store-memory';
import { openSqliteStore } from '@hansard/store-sqlite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SessionLog } from '../../../src/log/session-log.ts';
import { playConcurrently } from './play-concurrently.ts';
import { type ConcurrentCounts, wrongIn } from './wrong-in.ts';

const stores: Readonly<Record<string, (root: string) => DispatchStoreProvider>> = {
  memory: () => createMemoryStore(),
  jsonfile: (root) => openJsonFileStore({ root }),
  sqlite: (root) => openSqliteStore({ path: join(root, 'log.db') }),
};

async function compareSeeds(open: (root: string) => DispatchStoreProvider, seeds: readonly number[]) {
  const counts: ConcurrentCounts = { prompts: 0, transcripts: 0, cells: 0, repeats: 0 };
  const happened = { loads: 0, evictions: 0, closed: 0, duringCalls: 0 };
  const wrong: string[] = [];
  for (const seed of seeds) {
    const root = mkdtempSync(join(tmpdir(), 'hansard-concurrent-'));
    try {
      const played = await playConcurrently(seed, open(root));
      wrong.push(...wrongIn(played, counts).map((words) => `seed ${seed}: ${words}`));
      for (const key of Object.keys(happened) as (keyof typeof happened)[])
        happened[key] += played.happened[key];
    } finally {
      rmSync(root, { recursive: true });
    }
  }
  return { wrong, counts, happened };
}

const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

describe('sessions that several threads of a program use at the same time', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ['memory', 1, 30],
    ['jsonfile', 101, 8],
    ['sqlite', 201, 8],
  ] as const)(
    'give models and readers each message once, in a store of %s, from seed %d',
    async (store, first, count) => {
      const open = stores[store];
      if (open === undefined) throw new RangeError(store);
      const { wrong, counts, happened } = await compareSeeds(open, seedsFrom(first, count));
      expect(wrong.slice(0, 5)).toEqual([]);
      const least = {
        prompts: 8,
        transcripts: 2,
        cells: 10,
        repeats: 6,
        loads: 2,
        evictions: 3,
        closed: 0.5,
        duringCalls: 0.5,
      };
      for (const [kind, number] of Object.entries({ ...counts, ...happened }))
        expect(number, kind).toBeGreaterThanOrEqual(least[kind as keyof typeof least] * count);
    },
  );

  it('find a session that reads the log without a limit while others append', async () => {
    vi.spyOn(SessionLog.prototype, 'through', 'get').mockReturnValue(Number.POSITIVE_INFINITY);
    vi.spyOn(SessionLog.prototype, 'lastId', 'get').mockReturnValue(null);
    const { wrong } = await compareSeeds(() => createMemoryStore(), seedsFrom(1, 15));
    expect(wrong.length).toBeGreaterThan(15);
  });
});
