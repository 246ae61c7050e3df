import type { TaskRecord } from '@hansard/events';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { codeOf, newStores, type Stores } from './server/stores.ts';

const server = useServer();
const task = (name: string) =>
  ({
    slug: name,
    name,
    project: 'lab',
    status: 'open',
    created: '2026-03-01T09:00:00.000Z',
  }) as unknown as TaskRecord;

/** Holds locks of the tables until `release`, so that calls wait for them in the order in which they were made. */
async function lock({ schema }: Stores, text: string) {
  const holder = new Client(server().url());
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN');
  await holder.query(text.replaceAll('S.', `"${schema}".`));
  const isWaiting = `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted`;
  return {
    waiting: (count: number) =>
      vi.waitFor(async () => expect((await holder.query(isWaiting)).rows[0].count).toBe(count), {
        timeout: 20_000,
      }),
    release: () => holder.query('COMMIT'),
  };
}

it.each(['claimDispatch', 'verified', 'rewriteDispatch', 'deleteDispatch'] as const)(
  'a call (%s) that waited for a rewrite finds the dispatch under its new row',
  async (kind) => {
    const stores = newStores(server());
    const [one, other] = [await stores.open(), await stores.open()];
    await one.createDispatch(taskDir, envelope());
    await one.appendEvents(taskDir, dispatchId, growingEvents(3));
    await one.releaseDispatch(taskDir, dispatchId);
    const same = { envelope: (of: never) => of, event: (of: never) => of };
    const { waiting, release } = await lock(stores, 'SELECT FROM S.dispatches FOR UPDATE');
    const rewrite = one.rewriteDispatch(taskDir, dispatchId, same as never);
    await waiting(1);
    const call = {
      claimDispatch: () => other.claimDispatch(taskDir, dispatchId),
      verified: () => other.acceptLoss(taskDir, dispatchId, growingEvents(4)[3] as never),
      rewriteDispatch: () => other.rewriteDispatch(taskDir, dispatchId, same as never),
      deleteDispatch: () => other.deleteDispatch(taskDir, dispatchId),
    }[kind]();
    await waiting(2);
    await release();
    await rewrite;
    expect(await codeOf(call)).toBe('none');
  },
);

it('a dispatch that was deleted while a call waited is not found', async () => {
  const stores = newStores(server());
  const [one, other] = [await stores.open(), await stores.open()];
  await one.createDispatch(taskDir, envelope());
  const { waiting, release } = await lock(stores, 'SELECT FROM S.dispatches FOR UPDATE');
  const deletion = one.deleteDispatch(taskDir, dispatchId);
  await waiting(1);
  const claim = codeOf(other.claimDispatch(taskDir, dispatchId));
  await waiting(2);
  await release();
  await deletion;
  expect(await claim).toBe('STORE_DISPATCH_NOT_FOUND');
});

it('forty records of one task at once are all put, and one of them stays', async () => {
  const stores = newStores(server());
  const [one, other] = [await stores.open(), await stores.open()];
  const names = Array.from({ length: 40 }, (_, index) => `name-${index}`);
  await Promise.all(names.map((name, index) => (index % 2 === 0 ? one : other).putTask(taskDir, task(name))));
  expect(names).toContain((await one.findTask(taskDir))?.name);
});

it('a record that a newer version puts while another one waits is not overwritten', async () => {
  const stores = newStores(server());
  const [one, other] = [await stores.open(), await stores.open()];
  await one.putTask(taskDir, task('first'));
  const { waiting, release } = await lock(stores, 'SELECT FROM S.tasks FOR UPDATE');
  const newer = one.putTask(taskDir, { ...task('newer'), status: { is: 'open' } } as never);
  await waiting(1);
  const older = codeOf(other.putTask(taskDir, task('older')));
  await waiting(2);
  await release();
  await newer;
  expect(await older).toBe('STORE_NEWER');
  expect((await stores.sql('SELECT record FROM S.tasks')).rows[0].record).toContain('newer');
});
