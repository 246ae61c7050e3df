import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, notice, taskDir } from '@hansard/testing/store-samples';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { codeOf, newStores } from '../server/stores.ts';
import { openAtOnce } from './attacks.ts';

const server = useServer();

describe('writers of one database', () => {
  it('create the tables once, when 20 of them begin at the same time', async () => {
    expect(await openAtOnce(server())).toEqual({ 'openings at once': 20 });
  });

  it('get STORE_CORRUPT, and leave no gap, when the server has lost acknowledged events', async () => {
    const stores = newStores(server());
    const store = await stores.open();
    await store.createDispatch(taskDir, envelope());
    await store.appendEvents(taskDir, dispatchId, growingEvents(10));
    await stores.sql('DELETE FROM S.events WHERE position >= 7');
    const lost = { code: 'STORE_CORRUPT', message: expect.stringContaining('had 10 events and has only 7') };
    await expect(store.appendEvents(taskDir, dispatchId, growingEvents(1, 10))).rejects.toMatchObject(lost);
    await expect(store.appendEvents(taskDir, dispatchId, growingEvents(3, 7))).rejects.toMatchObject(lost);
    expect(await codeOf(store.getDispatchEvents(taskDir, dispatchId))).toBe('STORE_CORRUPT');
    expect((await stores.sql('SELECT max(position) AS last FROM S.events')).rows).toEqual([{ last: 6 }]);
    await store.acceptLoss(taskDir, dispatchId, notice);
    await store.appendEvents(taskDir, dispatchId, growingEvents(1, 10));
    expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual([
      ...idsOf(growingEvents(7)),
      'notice',
      'e000010',
    ]);
  });

  it('wait for no lock of another dispatch', async () => {
    const stores = newStores(server());
    const [ofLocked, store] = [await stores.open(), await stores.open()];
    for (const [owner, id] of [
      [ofLocked, 'locked'],
      [store, 'free'],
    ] as const)
      await owner.createDispatch(taskDir, envelope({ dispatchId: id }));
    let release = (): void => {};
    const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>();
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const lock = withLockedRow(stores.schema, hasLocked, released);
    await locked;
    const waiting = ofLocked.appendEvents(taskDir, 'locked', growingEvents(1));
    await store.appendEvents(taskDir, 'free', growingEvents(3));
    await ofLocked.getDispatchEvents(taskDir, 'locked');
    expect((await ofLocked.readEvents(taskDir, 'locked', { last: 0 })).first).toBe(0);
    release();
    await Promise.all([lock, waiting]);
    expect((await ofLocked.readEvents(taskDir, 'locked', { last: 0 })).first).toBe(1);
  });

  it('are refused once their claim was taken, and nothing of a refused batch is stored', async () => {
    const stores = newStores(server());
    const [first, second] = [await stores.open(), await stores.open()];
    await first.createDispatch(taskDir, envelope());
    await first.appendEvents(taskDir, dispatchId, growingEvents(2));
    await second.breakClaim(taskDir, dispatchId);
    const { epoch } = await second.claimDispatch(taskDir, dispatchId);
    expect(epoch).toBe(2);
    await expect(first.appendEvents(taskDir, dispatchId, growingEvents(2, 2))).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('another open store of this process'),
    });
    await second.appendEvents(taskDir, dispatchId, growingEvents(1, 5));
    expect(idsOf(await first.getDispatchEvents(taskDir, dispatchId))).toEqual([
      'e000000',
      'e000001',
      'e000005',
    ]);
  });
});

/** Holds the row of the dispatch `locked` until `released`. */
async function withLockedRow(schema: string, locked: () => void, released: Promise<void>): Promise<void> {
  const client = new Client(server().url());
  await client.connect();
  await client.query('BEGIN');
  await client.query(`SELECT FROM "${schema}".dispatches WHERE dispatch_id = 'locked' FOR UPDATE`);
  locked();
  await released;
  await client.query('COMMIT');
  await client.end();
}
