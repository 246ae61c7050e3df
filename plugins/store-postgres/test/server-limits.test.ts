import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { dispatchId, envelope, growingEvents, idsOf, taskDir } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { newStores, superuser } from './server/stores.ts';

const server = useServer();

/** A folder of its own file system, for the server. Skips the test, with the reason, where this machine lets nobody mount one. */
function smallDisk({ skip }: TestContext, size: string): { folder: string; resize: (size: string) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-small-disk-'));
  const mount = (...options: readonly string[]) =>
    execFileSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', folder], { stdio: 'pipe' });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  try {
    mount(`size=${size}`, 'mode=0700');
  } catch {
    skip('This machine does not let the test mount a small disk: it needs root and `mount`.');
  }
  // The server can still have files open.
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  // As whom the server of a test runs.
  chownSync(folder, 65_534, 65_534);
  return { folder, resize: (other) => void mount('remount', `size=${other}`) };
}

it('a standby gives everything and takes nothing, and after its promotion an open store continues', async () => {
  const stores = newStores(server());
  const store = await stores.open();
  await store.createDispatch(taskDir, envelope());
  await store.appendEvents(taskDir, dispatchId, growingEvents(10));
  await server().becomeStandby();
  const reader = await stores.open({ listenUrl: false, pollInterval: 20 });
  expect(await reader.listTasks()).toHaveLength(1);
  expect(idsOf(await reader.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(10)));
  await expect(store.appendEvents(taskDir, dispatchId, growingEvents(10, 10))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/primary/),
    isTransient: true,
  });
  const changed = Promise.withResolvers<void>();
  const stop = await reader.watch({ taskDir, dispatchId }, () => changed.resolve());
  await superuser(server(), 'SELECT pg_promote()');
  await store.appendEvents(taskDir, dispatchId, growingEvents(10, 10));
  await changed.promise;
  stop();
  expect(idsOf(await reader.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(20)));
});

// The last test: the server cannot start again without its small disk.
it('a full disk is STORE_UNAVAILABLE, and the same append succeeds when there is space', async (context) => {
  const disk = smallDisk(context, '3m');
  const stores = newStores(server());
  await superuser(server(), 'CREATE ROLE cramped LOGIN SUPERUSER');
  await superuser(server(), `CREATE TABLESPACE small LOCATION '${disk.folder}'`);
  await superuser(server(), "ALTER ROLE cramped SET default_tablespace = 'small'");
  const store = await stores.open({ url: server().url('cramped') });
  await store.createDispatch(taskDir, envelope());
  let stored = 0;
  let failure: unknown;
  while (failure === undefined && stored < 100_000) {
    try {
      await store.appendEvents(taskDir, dispatchId, growingEvents(500, stored));
      stored += 500;
    } catch (error) {
      failure = error;
    }
  }
  expect(failure).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('no free space on its disk'),
    isTransient: false,
  });
  expect(idsOf(await store.getDispatchEvents(taskDir, dispatchId))).toEqual(idsOf(growingEvents(stored)));
  disk.resize('20m');
  await store.appendEvents(taskDir, dispatchId, growingEvents(500, stored));
  expect((await store.readEvents(taskDir, dispatchId, { last: 1 })).next).toBe(stored + 499);
});
