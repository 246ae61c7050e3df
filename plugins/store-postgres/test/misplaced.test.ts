import { useServer } from '@hansard/testing/postgres-in-tests';
import { envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { expect, it } from 'vitest';
import { codeOf, newStores } from './server/stores.ts';

const server = useServer();
const charts = 'lab/tasks/charts';

/** A store with ended dispatches, whose rows SQL of another program then changes. */
async function changedBy(sql: string, ids: readonly string[]) {
  const stores = newStores(server());
  const store = await stores.open();
  for (const id of ids) {
    await store.createDispatch(taskDir, envelope({ dispatchId: id, status: 'completed' }));
    await store.claimDispatch(taskDir, id);
    await store.appendEvents(taskDir, id, growingEvents(3));
    await store.releaseDispatch(taskDir, id);
  }
  await store.searchEvents('text', { limit: 1 });
  await stores.sql(sql);
  return { store, stores };
}

it('a row with another id is STORE_MISPLACED for each call, and is adopted', async () => {
  const { store } = await changedBy("UPDATE S.dispatches SET dispatch_id = 'OTHER'", ['D']);
  const error = await store.getDispatchEvents(taskDir, 'OTHER').catch((reason: Error) => reason);
  expect(String(error)).toContain(`was written as dispatch D of ${taskDir}`);
  expect(String(error)).toContain(`\`hansard store adopt ${taskDir}/OTHER\``);
  for (const call of [
    () => store.claimDispatch(taskDir, 'OTHER'),
    () => store.deleteDispatch(taskDir, 'OTHER'),
    () => store.verifyDispatch(taskDir, 'OTHER'),
    () => store.breakClaim(taskDir, 'OTHER'),
    () => store.acceptLoss(taskDir, 'OTHER', growingEvents(9)[8] as never),
    () => store.searchEvents('text', { taskDir, dispatchId: 'OTHER' }),
    () => store.searchEvents('text'),
  ])
    expect(await codeOf(call())).toBe('STORE_MISPLACED');
  expect(await store.getDispatchEnvelope(taskDir, 'D')).toBeNull();
  expect(await store.adoptDispatches(taskDir, 'OTHER')).toEqual(['OTHER']);
  expect(await store.adoptDispatches(taskDir)).toEqual([]);
  expect(await store.getDispatchEvents(taskDir, 'OTHER')).toEqual(growingEvents(3));
  expect(await store.getDispatchEnvelope(taskDir, 'OTHER')).toMatchObject({ dispatchId: 'OTHER' });
  expect(await store.searchEvents('text')).toHaveLength(3);
  expect((await store.verifyDispatch(taskDir, 'OTHER')).damages).toEqual([]);
});

it('a task with another name is one entry at the end of the listing, on any page, and one call adopts it', async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `D${index}`);
  const { store, stores } = await changedBy(
    `UPDATE S.dispatches SET task_dir = '${charts}' WHERE dispatch_id <> 'D3'`,
    ids,
  );
  await stores.sql("UPDATE S.dispatches SET checksum = 'x' WHERE dispatch_id = 'D0'");
  const listed: unknown[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.listDispatches({ limit: 1, ...(after !== undefined && { after }) });
    listed.push(...page.dispatches.map(({ dispatchId, error }) => [dispatchId, error?.code]));
    after = page.next;
  }
  expect(listed).toEqual([
    ['D3', undefined],
    ['D0', 'STORE_CORRUPT'],
    [null, 'STORE_MISPLACED'],
  ]);
  expect(await codeOf(store.adoptDispatches(charts))).toBe('STORE_CORRUPT');
  await stores.sql("DELETE FROM S.dispatches WHERE dispatch_id = 'D0'");
  expect(await store.adoptDispatches(charts)).toEqual(['D1', 'D2', 'D4', 'D5']);
  expect((await store.listDispatches()).dispatches.map(({ dispatchId }) => dispatchId)).toEqual([
    'D1',
    'D2',
    'D4',
    'D5',
    'D3',
  ]);
  expect(await store.getDispatchEvents(charts, 'D4')).toEqual(growingEvents(3));
});
