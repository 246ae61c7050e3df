import { isStoreError } from '@hansard/provider';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, expect, it } from 'vitest';
import { dispatchId, envelope, events, idsOf, taskDir } from '../sample-data.ts';
import { newStores } from '../server/stores.ts';

const server = useServer();

describe('a server that is killed while events are appended', () => {
  it('has every acknowledged event after a kill of one of its processes, and after a kill of all', async () => {
    const stores = newStores(server());
    const store = await stores.open({ connectTimeout: 1_000 });
    await store.createDispatch(taskDir, envelope());
    let count = 0;
    let failures = 0;
    let isOver = false;
    let reached = (): void => {};
    const writer = (async () => {
      while (!isOver) {
        try {
          await store.appendEvents(taskDir, dispatchId, events(1, count));
          count += 1;
          reached();
        } catch (error) {
          if (!isStoreError(error) || !error.isTransient) throw error;
          failures += 1;
        }
      }
    })();
    const grown = async (by: number): Promise<void> => {
      const wanted = count + by;
      while (count < wanted)
        await new Promise<void>((resolve) => {
          reached = resolve;
        });
    };
    await grown(50);
    const { rows } = await stores.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'hansard'");
    process.kill(rows[0]?.pid, 'SIGKILL');
    await grown(50);
    await server().kill();
    await server().start();
    await grown(50);
    isOver = true;
    await writer;
    const reader = await stores.open();
    expect(idsOf(await reader.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(events(count)));
    expect(failures).toBeGreaterThan(0);
  });
});
