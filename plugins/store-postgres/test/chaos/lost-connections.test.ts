import type { CapturedEvent } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { randomFrom } from '@hansard/testing';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, expect, it } from 'vitest';
import type { PostgresStore } from '../../src/index.ts';
import { dispatchId, envelope, events, idsOf, taskDir } from '../sample-data.ts';
import { startProxy } from '../server/cutting-proxy.ts';
import { codeOf, newStores } from '../server/stores.ts';

const server = useServer();
const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));

/** Appends as the facade does: the same call again after an error that says that nothing is certain. */
async function appendUntilStored(
  store: PostgresStore,
  id: string,
  batch: readonly CapturedEvent[],
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await store.appendEvents(taskDir, id, batch);
      return;
    } catch (error) {
      if (!isStoreError(error) || !error.isTransient || tries === 20) throw error;
    }
  }
}

describe('a store whose connections are lost', () => {
  it(`stores each event once and in order, though answers of the server are lost (HANSARD_SEED=${seed})`, async () => {
    const stores = newStores(server());
    const proxy = await startProxy(server().port);
    const random = randomFrom(seed);
    const store = await stores.open({ url: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres` });
    await store.createDispatch(taskDir, envelope());
    proxy.shouldCut = () => random() < 0.06;
    let given = 0;
    for (let batch = 0; batch < 150; batch += 1) {
      const count = 1 + Math.floor(random() * 5);
      await appendUntilStored(store, dispatchId, events(count, given));
      given += count;
    }
    proxy.shouldCut = () => false;
    const reader = await stores.open();
    expect(idsOf(await reader.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(events(given)));
    expect((await reader.verifyDispatch(taskDir, dispatchId)).damages).toEqual([]);
    // Otherwise nothing was tested.
    expect(proxy.cuts).toBeGreaterThan(5);
  });

  it('loses nothing when the server ends its connections, also several at once', async () => {
    const stores = newStores(server());
    const store = await stores.open();
    const ids = Array.from({ length: 4 }, (_, index) => `dispatch-${index}`);
    for (const id of ids) await store.createDispatch(taskDir, envelope({ dispatchId: id }));
    let isOver = false;
    const write = async (id: string): Promise<number> => {
      let count = 0;
      for (; !isOver; count += 1) await appendUntilStored(store, id, events(1, count));
      return count;
    };
    const writers = ids.map(write);
    let ended = 0;
    for (let round = 0; round < 25; round += 1) {
      const { rows } = await stores.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hansard'",
      );
      ended += rows.length;
    }
    isOver = true;
    const counts = await Promise.all(writers);
    for (const [index, id] of ids.entries())
      expect(idsOf(await store.getDispatchEvents(taskDir, id))).toEqual(idsOf(events(counts[index] ?? 0)));
    expect(ended).toBeGreaterThan(20);
  });

  it('continues to report changes after the end of the connection that listens, and misses none', async () => {
    const stores = newStores(server());
    const [writer, follower] = [await stores.open(), await stores.open()];
    await writer.createDispatch(taskDir, envelope());
    let changed = (): void => {};
    const stop = await follower.watch({ taskDir, dispatchId }, () => changed());
    const seen = async (count: number): Promise<void> => {
      for (;;) {
        const called = new Promise<void>((resolve) => {
          changed = resolve;
        });
        if ((await follower.readEvents(taskDir, dispatchId, { last: 0 })).first === count) return;
        await called;
      }
    };
    await writer.appendEvent(taskDir, dispatchId, events(1)[0] as CapturedEvent);
    await seen(1);
    for (let round = 1; round < 4; round += 1) {
      await stores.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'",
      );
      await writer.appendEvents(taskDir, dispatchId, events(1, round));
      await seen(round + 1);
    }
    stop();
  });

  it('closes within five seconds while the server does not answer, and fails the calls under way', async () => {
    const stores = newStores(server());
    const proxy = await startProxy(server().port);
    const store = await stores.open({ url: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres` });
    await store.createDispatch(taskDir, envelope());
    const stop = await store.watch({ taskDir, dispatchId }, () => {});
    proxy.block();
    const append = codeOf(store.appendEvents(taskDir, dispatchId, events(1)));
    const start = performance.now();
    await store.close();
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await append).toBe('STORE_UNAVAILABLE');
    expect(await codeOf(store.listTasks())).toBe('STORE_CLOSED');
    stop();
  });
});
