import { importMutated } from '@hansard/testing/mutants';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type * as Store from '../src/index.ts';
import { newStores } from './server/stores.ts';

type Mutation = readonly [file: string, piece: string, instead: string];

const server = useServer();
const home = new URL('..', import.meta.url).pathname;

/**
 * Ends the listening connection of a store, and appends before it listens again.
 * @returns whether its listener was called once it listened again
 */
async function callsAfterReconnection(mutation: Mutation): Promise<boolean> {
  const { openPostgresStore } = (await importMutated(home, mutation, 'index.ts')) as typeof Store;
  const stores = newStores(server());
  const writer = await stores.open();
  await writer.createDispatch(taskDir, envelope());
  const follower = await openPostgresStore({ url: server().url(), schema: stores.schema });
  onTestFinished(() => follower.close());
  let calls = 0;
  await follower.watch({ taskDir, dispatchId }, () => {
    calls += 1;
  });
  const listening = async () => {
    const found = `SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "${stores.schema}"'`;
    return (await stores.sql(found)).rows.map(({ pid }) => pid as number);
  };
  const [old] = await listening();
  await stores.sql('SELECT pg_terminate_backend($1)', [old]);
  // It listens again after 100 milliseconds at the earliest. The notification of the change is sent before, to nobody.
  await writer.appendEvents(taskDir, dispatchId, growingEvents(1));
  await writer.close();
  const before = calls;
  await vi.waitFor(async () => expect((await listening()).some((pid) => pid !== old)).toBe(true), {
    timeout: 20_000,
  });
  try {
    await vi.waitFor(() => expect(calls).toBeGreaterThan(before), { timeout: 2_000 });
    return true;
  } catch {
    return false;
  }
}

describe('after a reconnection', () => {
  const piece = '        () => this.#call(everything),\n';

  it('listeners are called, because they may have missed a change', async () => {
    expect(await callsAfterReconnection(['change-watch.ts', piece, piece])).toBe(true);
  });

  it('listeners that are not called are found', async () => {
    expect(await callsAfterReconnection(['change-watch.ts', piece, '        () => {},\n'])).toBe(false);
  });
});
