import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DispatchStatus } from '@hansard/events';
import type { ListDispatchesOptions } from '@hansard/provider';
import { pageOfDispatches } from '@hansard/store-kit';
import { envelope } from '@hansard/testing/store-samples';
import { describe, expect, it, vi } from 'vitest';
import type { SqliteStore } from '../src/index.ts';
import { pageQuery } from '../src/tables/dispatch-pages.ts';
import { randomFrom } from './integrity/damage-rows.ts';
import { openStore, temporaryPath } from './temporary-store.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const tasks = ['a', 'a/b', 'é', '😀'];
const statuses: readonly DispatchStatus[] = ['running', 'completed', 'crashed'];
const startOf = (minute: number) => `2026-03-01T09:${String(minute).padStart(2, '0')}:00.000Z`;

/** Creates dispatches with random starts and statuses, and changes the start of some. */
function fill(store: SqliteStore, count: number, random: () => number): void {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  for (let at = 0; at < count; at += 1) {
    const startedAt = startOf(Math.floor(random() * 20));
    const [taskDir, dispatchId] = [pick(tasks), `d${Math.floor(random() * 1e9)}`];
    store.createDispatch(taskDir, envelope({ dispatchId, startedAt, status: pick(statuses) }));
    if (random() > 0.2) continue;
    store.claimDispatch(taskDir, dispatchId);
    store.updateDispatch(taskDir, dispatchId, { startedAt: startOf(Math.floor(random() * 20)) });
  }
}

/** The names of all pages, and how many there are. */
function walk(list: (after: string | undefined) => { dispatches: readonly object[]; next: string | null }) {
  const pages: object[][] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const { dispatches, next } = list(after);
    pages.push(dispatches.map((one) => ({ ...one, lastActiveAt: null })));
    after = next;
  }
  return pages;
}

/** Every page of a store, and the same pages of the complete list. */
function pagesOf(store: SqliteStore, options: ListDispatchesOptions) {
  const found = walk((after) => store.listDispatches({ ...options, ...(after !== undefined && { after }) }));
  const complete = store.listDispatches({ limit: 1_000_000 }).dispatches;
  const expected = walk((after) =>
    pageOfDispatches(complete, { ...options, ...(after !== undefined && { after }) }),
  );
  return { found, expected };
}

const scopes: readonly ListDispatchesOptions[] = [
  {},
  { taskDir: 'a/b' },
  { startedSince: startOf(7) },
  { taskDir: '😀', startedSince: startOf(7) },
];

describe(`pages of dispatches (seed ${seed})`, () => {
  it('are those of the complete list, with any filter, order and length, also after damage', () => {
    const random = randomFrom(seed);
    const path = temporaryPath();
    const store = openStore(path);
    fill(store, 60, random);
    const check = () => {
      for (const scope of scopes)
        for (const order of ['oldest', 'newest'] as const)
          for (const status of [undefined, ['crashed'] as const])
            for (const limit of [1, 7, 40]) {
              const options = { ...scope, order, limit, ...(status && { status }) };
              const { found, expected } = pagesOf(store, options);
              expect(found, JSON.stringify(options)).toEqual(expected);
            }
    };
    check();
    const raw = new DatabaseSync(path);
    raw.exec(`UPDATE dispatches SET envelope = replace(envelope, 'worker', 'walker') WHERE number % 10 = 3`);
    raw.close();
    check();
  });

  it('use an index in every order, and sort nothing', () => {
    const path = temporaryPath();
    openStore(path).createDispatch('a', envelope());
    const raw = new DatabaseSync(path);
    const last = { startedAt: startOf(3), taskDir: 'a', dispatchId: 'd1' };
    for (const scope of scopes)
      for (const order of ['oldest', 'newest'] as const)
        for (const place of [null, last]) {
          const { sql, values } = pageQuery({ ...scope, order }, place);
          const plan = raw.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
          const index = scope.taskDir === undefined ? 'dispatches_by_start' : 'dispatches_of_task_by_start';
          expect(plan, sql).toMatchObject([{ detail: expect.stringContaining(`USING INDEX ${index}`) }]);
          // A page after the first one seeks its place, instead of reading all rows before it.
          if (place !== null) expect(plan[0]?.detail).toMatch(/^SEARCH .*[<>]/);
        }
    raw.close();
  });

  it('end with STORE_CORRUPT where an index has a dispatch at a wrong place, and a single page does not need it', () => {
    const path = temporaryPath();
    const store = openStore(path);
    fill(store, 20, randomFrom(seed));
    store.close();
    const raw = new DatabaseSync(path);
    // As a damaged page of the index: the rows stay, and the index says something else of one of them.
    raw.exec(`UPDATE dispatches SET started_at = '2026-01-01T00:00:00.000Z' WHERE number = 7`);
    raw.close();
    const damaged = openStore(path);
    expect(() => pagesOf(damaged, { limit: 3 })).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }));
    expect(damaged.listDispatches().dispatches).toHaveLength(20);
  });
});

it.each([5, 60])('the complete list of %d tasks takes as many queries for rows as that of two', (count) => {
  const queriesOf = (number: number) => {
    const store = openStore(temporaryPath());
    for (let at = 0; at < number; at += 1)
      store.createDispatch(
        `lab/tasks/t${at}`,
        envelope({ status: 'completed', startedAt: startOf(at % 60) }),
      );
    const { next } = store.listDispatches({ limit: number - 1 });
    const all = vi.spyOn(StatementSync.prototype, 'all');
    // The last page, which is one of the complete list.
    expect(store.listDispatches({ limit: 10, after: next ?? '' }).dispatches).toHaveLength(1);
    const calls = all.mock.calls.length;
    all.mockRestore();
    return calls;
  };
  expect(queriesOf(count)).toBe(queriesOf(2));
});
