import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { storeErrors } from '@hansard/provider';
import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished, vi } from 'vitest';
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

/** Milliseconds: the longest wait of a call, and what a machine may need beside it. The least of several tries is compared, because other programs run, too. */
const longestCall = 100 + 80;

/** Makes a call again until one took no longer. @returns whether the last one was refused as it should be, or had an answer */
function assertShort(name: string, call: () => unknown, pid: number | undefined): 'answered' | 'refused' {
  for (let tries = 1; ; tries += 1) {
    const began = performance.now();
    let refusal: unknown = null;
    try {
      call();
    } catch (error) {
      refusal = error;
    }
    const ms = performance.now() - began;
    if (refusal !== null) {
      expect(refusal, name).toMatchObject({ code: 'STORE_UNAVAILABLE', isTransient: true });
      expect(String(refusal), name).toContain(`process ${pid}, which is stopped`);
    }
    if (ms <= longestCall) return refusal === null ? 'answered' : 'refused';
    expect(tries, `${name} waits ${Math.round(ms)} ms`).toBeLessThan(8);
  }
}

it.skipIf(!hasLocks)(
  'no call waits longer than 100 ms for a process that is stopped while it writes',
  async () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    store.appendEvents(taskDir, dispatchId, [textEvent('a')]);
    // One for each try: closing again does nothing.
    const owners = Array.from({ length: 8 }, (_, number) => {
      const owner = openStore(path);
      for (const id of ['a', 'b']) owner.createDispatch(taskDir, envelope({ dispatchId: `${id}${number}` }));
      return owner;
    });
    const { pid } = await stoppedIn(path, 'writing');
    const rewrite = { envelope: <T>(one: T) => one, event: <T>(one: T) => one };
    const writing: Readonly<Record<string, () => unknown>> = {
      createDispatch: () => store.createDispatch(taskDir, envelope({ dispatchId: 'new' })),
      claimDispatch: () => openStore(path).claimDispatch(taskDir, dispatchId),
      releaseDispatch: () => store.releaseDispatch(taskDir, dispatchId),
      breakClaim: () => openStore(path).breakClaim(taskDir, dispatchId),
      updateDispatch: () => store.updateDispatch(taskDir, dispatchId, { title: 'b' }),
      appendEvent: () => store.appendEvent(taskDir, dispatchId, textEvent('b')),
      appendEvents: () => store.appendEvents(taskDir, dispatchId, [textEvent('b'), textEvent('c')]),
      searchEvents: () => store.searchEvents('text', { taskDir }),
      putTask: () => store.putTask(taskDir, { title: 'A task' } as never),
      rewriteDispatch: () => store.rewriteDispatch(taskDir, dispatchId, rewrite),
      deleteDispatch: () => store.deleteDispatch(taskDir, dispatchId),
      acceptLoss: () => store.acceptLoss(taskDir, dispatchId, textEvent('loss')),
      adoptDispatches: () => store.adoptDispatches(taskDir),
      removeRemains: () => store.removeRemains(),
    };
    const others: Readonly<Record<string, () => unknown>> = {
      openSqliteStore: () => openStore(path).listTasks(),
      findClaim: () => store.findClaim(taskDir, dispatchId),
      findClaims: () => store.findClaims(taskDir, [dispatchId]),
      getDispatchEnvelopes: () => store.getDispatchEnvelopes(taskDir),
      getDispatchEnvelope: () => store.getDispatchEnvelope(taskDir, dispatchId),
      getDispatchEvents: () => store.getDispatchEvents(taskDir, dispatchId),
      readEvents: () => store.readEvents(taskDir, dispatchId, { last: 1 }),
      listDispatches: () => store.listDispatches(),
      listTasks: () => store.listTasks(),
      findTask: () => store.findTask(taskDir),
      verifyDispatch: () => store.verifyDispatch(taskDir, dispatchId),
      findRemains: () => store.findRemains(),
      watch: () => store.watch({ taskDir, dispatchId }, () => {})(),
    };
    const outcomes = (calls: typeof writing) =>
      Object.entries(calls).map(([name, call]) => `${name} ${assertShort(name, call, pid)}`);
    expect(outcomes(writing)).toEqual(Object.keys(writing).map((name) => `${name} refused`));
    expect(outcomes(others)).toEqual(Object.keys(others).map((name) => `${name} answered`));
    expect(assertShort('close', () => owners.pop()?.close(), pid)).toBe('refused');
  },
);

it.skipIf(!hasLocks)(
  'a process that is stopped inside any call is named after 100 ms, and reading continues',
  async () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    store.createDispatch(taskDir, envelope({ dispatchId: 'of-the-other' }));
    const script = join(import.meta.dirname, 'processes/stop-in-calls.ts');
    const words = ['--conditions=@hansard/source', '--disable-warning=ExperimentalWarning', script, path];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const stops: string[] = [];
    for await (const name of createInterface({ input: child.stdout })) {
      if (name === 'end') break;
      await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/stat`, 'utf8')).toMatch(/\) T /));
      const append = () => store.appendEvent(taskDir, dispatchId, textEvent('a'));
      stops.push(`${name} ${assertShort(`an append beside ${name}`, append, child.pid)}`);
      const read = () => store.getDispatchEvents(taskDir, dispatchId);
      expect(assertShort(`a read beside ${name}`, read, child.pid)).toBe('answered');
      child.kill('SIGCONT');
    }
    expect(stops).toEqual(
      [
        ...[
          'createDispatch',
          'appendEvents',
          'searchEvents',
          'updateDispatch',
          'rewriteDispatch',
          'releaseDispatch',
        ],
        ...['claimDispatch', 'acceptLoss', 'breakClaim', 'putTask', 'deleteDispatch'],
      ].map((name) => `${name} refused`),
    );
  },
);
