import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { newStores } from './server/stores.ts';
import { startPooler } from './server/transaction-pooler.ts';

const server = useServer();
const urlOf = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`;

describe.each(['refuse', 'lose'] as const)(
  'through a pooler in transaction mode that may %s LISTEN',
  (listen) => {
    it('a store without prepared statements records, reads, searches, claims and watches', async () => {
      const stores = newStores(server());
      const pooler = await startPooler(server().port, { listen });
      const url = urlOf(pooler.port);
      const store = await stores.open({ url, prepare: false, pollInterval: 20 });
      const other = await stores.open({ url, prepare: false, pollInterval: 20 });
      const ids = ['one', 'two', 'three'];
      for (const id of ids) await store.createDispatch(taskDir, envelope({ dispatchId: id }));
      await Promise.all(
        ids.map(async (id) => {
          for (let at = 0; at < 10; at += 1) await store.appendEvents(taskDir, id, growingEvents(2, at * 2));
        }),
      );
      for (const id of ids) {
        expect(idsOf(await other.getDispatchEvents(taskDir, id))).toEqual(idsOf(growingEvents(20)));
        await expect(other.claimDispatch(taskDir, id)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      }
      expect(await other.searchEvents('e000001', { taskDir })).toHaveLength(3);
      const changed = Promise.withResolvers<void>();
      const stop = await other.watch({ taskDir }, () => changed.resolve());
      await store.appendEvents(taskDir, 'one', growingEvents(1, 20));
      await changed.promise;
      stop();
      await store.releaseDispatch(taskDir, 'one');
      expect(await other.claimDispatch(taskDir, 'one')).toMatchObject({ epoch: 2 });
      expect((await other.verifyDispatch(taskDir, 'one')).damages).toEqual([]);
      // Otherwise nothing was tested.
      expect(pooler.changes).toBeGreaterThan(15);
    });
  },
);

it('a store with prepared statements says which option to set, and is alive', async () => {
  const stores = newStores(server());
  const pooler = await startPooler(server().port, { listen: 'lose' });
  const store = await stores.open({ url: urlOf(pooler.port) });
  const append = async () => {
    await store.createDispatch(taskDir, envelope());
    for (let at = 0; at < 20; at += 1) await store.appendEvents(taskDir, dispatchId, growingEvents(1, at));
  };
  await expect(append()).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    isTransient: false,
    message: expect.stringMatching(/pooler.*Set `prepare: false`/),
  });
  const correct = await stores.open({ url: urlOf(pooler.port), prepare: false });
  expect(await correct.listTasks()).toHaveLength(1);
});

it('a store whose listening connection leads to the server itself is notified', async () => {
  const stores = newStores(server());
  const pooler = await startPooler(server().port, { listen: 'lose' });
  const options = {
    url: urlOf(pooler.port),
    prepare: false,
    listenUrl: server().url(),
    pollInterval: 3_600_000,
  };
  const [store, other] = [await stores.open(options), await stores.open(options)];
  await store.createDispatch(taskDir, envelope());
  const changed = Promise.withResolvers<void>();
  const stop = await other.watch({ taskDir, dispatchId }, () => changed.resolve());
  await store.appendEvents(taskDir, dispatchId, growingEvents(1));
  await changed.promise;
  stop();
});
