import { afterEach, describe, expect, it, vi } from 'vitest';
import { SessionLog } from '../../../src/log/session-log.ts';
import { compareConcurrently } from './compare-concurrently.ts';

const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

/** What a session of each seed has at least, on average, so that nothing passes because nothing happened. */
const least = {
  ...{ prompts: 8, transcripts: 2, cells: 10, negatives: 6, repeats: 6, answers: 6, approvals: 1, forks: 1 },
  ...{ loads: 1.5, evictions: 3, closed: 0.5, duringCalls: 0.1, stops: 0.2, rewinds: 0.2, letters: 1 },
  ...{ denials: 0.5, rejections: 0.1, answers: 0.5, posted: 0.5 },
};

const seeds = Number(process.env.HANSARD_SEEDS ?? 0);

// `scripts/campaigns/truth.ts` compares more seeds.
describe('sessions that several threads of a program use at the same time, with people, reviews, stops, rewinds and budgets', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ['memory', 1, 12],
    ['jsonfile', 101, 5],
    ['sqlite', 201, 5],
  ] as const)(
    'give models, readers and forks each message once, and make each call as a person said, in a store of %s, from seed %d',
    async (store, first, some) => {
      const count = Math.max(seeds, some);
      const { wrong, counts, happened } = await compareConcurrently(store, seedsFrom(first, count));
      expect(wrong.slice(0, 5)).toEqual([]);
      const found: Readonly<Record<string, number>> = { ...counts, ...happened };
      for (const [kind, number] of Object.entries(least))
        expect(found[kind], kind).toBeGreaterThanOrEqual(number * count);
    },
    60_000 + seeds * 2_000,
  );

  it('find a session that reads the log without a limit while others append', async () => {
    vi.spyOn(SessionLog.prototype, 'through', 'get').mockReturnValue(Number.POSITIVE_INFINITY);
    vi.spyOn(SessionLog.prototype, 'lastId', 'get').mockReturnValue(null);
    const { wrong } = await compareConcurrently('memory', seedsFrom(1, 6));
    expect(wrong.length).toBeGreaterThan(6);
  });
});
