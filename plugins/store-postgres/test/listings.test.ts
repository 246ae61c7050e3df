import type { DispatchListing, ListDispatchesOptions } from '@hansard/provider';
import { compareListings } from '@hansard/store-kit';
import { randomFrom } from '@hansard/testing';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { envelope } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import type { PostgresStore } from '../src/index.ts';
import { newStores } from './server/stores.ts';

const server = useServer();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
const statuses = ['running', 'completed', 'crashed'] as const;

/** All pages of a listing, as their names, and `!` for what cannot be read. */
async function listAll(store: PostgresStore, options: ListDispatchesOptions): Promise<readonly string[]> {
  const found: DispatchListing[] = [];
  let after: string | null = null;
  do {
    const page = await store.listDispatches({ ...options, ...(after === null ? {} : { after }) });
    expect(page.dispatches.length).toBeLessThanOrEqual(options.limit ?? 1_000);
    found.push(...page.dispatches);
    after = page.next;
  } while (after !== null);
  return found.map(
    ({ taskDir, dispatchId, envelope: read }) => `${read === null ? '!' : ''}${taskDir} ${dispatchId}`,
  );
}

it(`pages have every dispatch once, in order, and those with damage at the end (HANSARD_SEED=${seed})`, async () => {
  const random = randomFrom(seed);
  const stores = newStores(server());
  const store = await stores.open();
  const all = Array.from({ length: 40 }, (_, index) => ({
    taskDir: ['a/tasks/x', 'a/tasks/é', 'a/tasks/😀', 'b'][Math.floor(random() * 4)] ?? '',
    dispatchId: `dispatch-${index}`,
    // Few times, so that names decide.
    startedAt: `2026-03-0${1 + Math.floor(random() * 4)}T09:00:00.000Z`,
    status: statuses[Math.floor(random() * 3)] ?? 'running',
    isDamaged: random() < 0.15,
  }));
  for (const { taskDir, dispatchId, startedAt, status } of all)
    await store.createDispatch(taskDir, envelope({ dispatchId, startedAt, status }));
  for (const { dispatchId, isDamaged } of all)
    if (isDamaged)
      await stores.sql("UPDATE S.dispatches SET status = 'gone' WHERE dispatch_id = $1", [dispatchId]);
  for (let round = 0; round < 30; round += 1) {
    const options: ListDispatchesOptions = {
      order: random() < 0.5 ? 'oldest' : 'newest',
      limit: 1 + Math.floor(random() * 12),
      ...(random() < 0.4 ? { taskDir: all[Math.floor(random() * all.length)]?.taskDir ?? '' } : {}),
      ...(random() < 0.4 ? { status: statuses.filter(() => random() < 0.6) } : {}),
      ...(random() < 0.4 ? { startedSince: '2026-03-02T09:00:00.000Z' } : {}),
    };
    const { taskDir, status, startedSince, order } = options;
    const expected = all
      .filter((one) => taskDir === undefined || one.taskDir === taskDir)
      .filter((one) => one.isDamaged || status === undefined || status.includes(one.status))
      .filter((one) => one.isDamaged || startedSince === undefined || one.startedAt >= startedSince)
      .map((one) => ({ ...one, startedAt: one.isDamaged ? null : one.startedAt }))
      .sort((left, right) => compareListings(left, right, order))
      .map((one) => `${one.isDamaged ? '!' : ''}${one.taskDir} ${one.dispatchId}`);
    expect(await listAll(store, options), JSON.stringify(options)).toEqual(expected);
  }
});
