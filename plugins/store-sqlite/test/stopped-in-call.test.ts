import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { storeErrors } from '@hansard/provider';
import { dispatchId, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import plugin from '../src/index.ts';
import { lockOwners } from '../src/sqlite-errors.ts';
import { openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const hasLocks = existsSync('/proc/locks');

/** Holds the lock of writers, as a process that was stopped inside a call. `opening`: it has not written the index of the log yet. */
const script = `
  const { DatabaseSync } = require('node:sqlite');
  const { openSync, writeSync } = require('node:fs');
  const [path, state] = process.argv.slice(1);
  const database = new DatabaseSync(path);
  database.exec('BEGIN IMMEDIATE');
  if (state === 'opening') writeSync(openSync(path + '-shm', 'r+'), Buffer.alloc(96), 0, 96, 0);
  console.log('ready');
  setInterval(() => {}, 1000);
`;

async function stoppedIn(path: string, state: 'writing' | 'opening'): Promise<ChildProcess> {
  const words = ['--disable-warning=ExperimentalWarning', '-e', script, path, state];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  child.kill('SIGSTOP');
  return child;
}

function failureOf(call: () => unknown) {
  const began = performance.now();
  try {
    call();
  } catch (error) {
    if (storeErrors.is(error, 'STORE_UNAVAILABLE')) return { error, ms: performance.now() - began };
    throw error;
  }
  throw new Error('The call succeeded.');
}

/** Milliseconds: far below the ten seconds of SQLite, far above 100 on a busy machine. */
const soon = 2_000;

it.skipIf(!hasLocks)(
  'a process that is stopped while it writes is named, and reading continues',
  async () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    const child = await stoppedIn(path, 'writing');
    expect(lockOwners(path)).toEqual([child.pid]);
    const { error, ms } = failureOf(() => store.appendEvent(taskDir, dispatchId, textEvent('a')));
    expect(error.message).toContain(`process ${child.pid}, which is stopped (SIGCONT lets it continue),`);
    expect(error.isTransient).toBe(true);
    expect(ms).toBeLessThan(soon);
    expect(openStore(path).getDispatchEvents(taskDir, dispatchId)).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(lockOwners(path)).toEqual([]);
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(openStore(path).getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  },
);

it.skipIf(!hasLocks)(
  'a process that is stopped while it opens is named after 100 ms, and not after ten seconds',
  async () => {
    const path = temporaryPath();
    storeWithDispatch(path).close();
    const child = await stoppedIn(path, 'opening');
    const { error, ms } = failureOf(() => openStore(path));
    expect(error.message).toContain(`process ${child.pid}, which is stopped (SIGCONT lets it continue),`);
    expect(error.isTransient).toBe(true);
    expect(ms).toBeLessThan(soon);

    // The plugin waits without holding up this process, and opens the store when the other process is gone.
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 20);
    const opening = plugin.create(
      { root: '.' },
      { baseDir: dirname(path), signal: AbortSignal.timeout(20_000) },
    );
    await new Promise((resolve) => setTimeout(resolve, 400));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
    child.kill('SIGKILL');
    const store = await opening;
    onTestFinished(() => void store.close());
    expect(await store.getDispatchEvents(taskDir, dispatchId)).toEqual([]);
  },
);

it.skipIf(!hasLocks)('the wait of the plugin ends with its signal', async () => {
  const path = temporaryPath();
  storeWithDispatch(path).close();
  await stoppedIn(path, 'opening');
  const context = { baseDir: dirname(path), signal: AbortSignal.timeout(300) };
  await expect(Promise.resolve(plugin.create({ root: '.' }, context))).rejects.toMatchObject({
    name: 'AbortError',
  });
});
