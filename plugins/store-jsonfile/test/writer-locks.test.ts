import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { currentProcess, type ProcessOwner } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, openClaimed, openStore, taskDir } from './sample.ts';

const lockFile = (root: string, dispatchId: string) =>
  dispatchFile(root, dispatchId).replace(/json$/, 'lock');

/** The number of a process that has certainly exited. */
function exitedProcess(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

/** Writes a lock of this boot and PID namespace, with some changes. */
function leaveLock(path: string, token: string, changes: Partial<ProcessOwner>): void {
  writeFileSync(path, JSON.stringify({ ...currentProcess(), ...changes, token }));
}

function leaveExpiredLock(path: string): void {
  leaveLock(path, 'gone', { pid: exitedProcess(), startTime: '1' });
}

describe('the right to write a dispatch', () => {
  it('is refused to a second store, with the name of the owner, for claims, appends, changes and deletion', () => {
    const root = makeRoot();
    const first = openStore(root);
    const second = openStore(root);
    first.createDispatch(taskDir, makeEnvelope('d1'));
    for (const write of [
      () => second.claimDispatch(taskDir, 'd1'),
      () => second.appendEvent(taskDir, 'd1', makeEvent(1)),
      () => second.appendEvents(taskDir, 'd1', [makeEvent(1)]),
      () => second.updateDispatch(taskDir, 'd1', { cost: 1 }),
      () => second.deleteDispatch(taskDir, 'd1'),
    ]) {
      expect(codeOf(write)).toBe('STORE_LOCKED');
      expect(write).toThrow(String(process.pid));
    }
    first.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(second.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
  });

  it('is one per dispatch: a second store writes another dispatch of the task', () => {
    const root = makeRoot();
    const first = openStore(root);
    const second = openStore(root);
    first.createDispatch(taskDir, makeEnvelope('d1'));
    second.createDispatch(taskDir, makeEnvelope('d2'));
    second.appendEvent(taskDir, 'd2', makeEvent(1));
    expect(first.getDispatchEvents(taskDir, 'd2')).toEqual([makeEvent(1)]);
  });

  it('can be claimed by another store when the store closes', () => {
    const root = makeRoot();
    const first = openStore(root);
    const second = openStore(root);
    first.createDispatch(taskDir, makeEnvelope('d1'));
    first.close();
    second.claimDispatch(taskDir, 'd1');
    second.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(second.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
  });

  it('is kept when the dispatch ends, is free when it is released, and can be claimed again for a late event', () => {
    const root = makeRoot();
    const first = openStore(root);
    const second = openStore(root);
    first.createDispatch(taskDir, makeEnvelope('d1'));
    first.appendEvent(taskDir, 'd1', makeEvent(1));
    first.updateDispatch(taskDir, 'd1', { status: 'completed' });
    expect(codeOf(() => second.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
    first.releaseDispatch(taskDir, 'd1');
    expect(existsSync(lockFile(root, 'd1'))).toBe(false);
    second.claimDispatch(taskDir, 'd1');
    second.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(codeOf(() => first.appendEvent(taskDir, 'd1', makeEvent(3)))).toBe('STORE_LOCKED');
    second.close();
    first.claimDispatch(taskDir, 'd1');
    first.appendEvent(taskDir, 'd1', makeEvent(3));
    expect(first.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2), makeEvent(3)]);
  });

  it('is required by a write without a claim, whose error says what to do and names the owner if there is one', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    const append = () => store.appendEvent(taskDir, 'd1', makeEvent(1));
    const asked = `has not claimed dispatch d1 of ${taskDir}. Claim it before you write to it.`;
    expect(append).toThrow(new RegExp(`${asked}$`));
    const other = openClaimed(root);
    const lock = lockFile(root, 'd1');
    expect(append).toThrow(
      `${asked} The lock ${lock} belongs to another open store of this process (${process.pid}).`,
    );
    expect(append).toThrow(`remove ${lock}.`);
    other.close();
    leaveExpiredLock(lock);
    expect(append).toThrow(new RegExp(`${asked}$`));
  });

  it('is taken over from a process that has exited', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    leaveExpiredLock(lockFile(root, 'd1'));
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(JSON.parse(readFileSync(lockFile(root, 'd1'), 'utf8'))).toMatchObject({ pid: process.pid });
    store.close();
    expect(existsSync(lockFile(root, 'd1'))).toBe(false);
  });

  it('is taken over from a process that exited during its own takeover', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    leaveExpiredLock(lockFile(root, 'd1'));
    leaveLock(`${lockFile(root, 'd1')}.gone`, 'gone-too', { pid: exitedProcess(), startTime: '1' });
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.close();
    expect(existsSync(lockFile(root, 'd1'))).toBe(false);
    expect(existsSync(`${lockFile(root, 'd1')}.gone`)).toBe(false);
  });

  it('is not taken from a running process whose takeover is in progress', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    leaveExpiredLock(lockFile(root, 'd1'));
    const follower = `${lockFile(root, 'd1')}.gone`;
    leaveLock(follower, 'alive', { pid: process.ppid, startTime: null });
    const claim = () => store.claimDispatch(taskDir, 'd1');
    expect(claim).toThrow(`process ${process.ppid}`);
    expect(claim).toThrow(`remove ${follower}.`);
  });

  it.each<[string, Partial<ProcessOwner>]>([
    ['another host', { host: 'elsewhere' }],
    ['another boot of the machine', { bootId: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])(
    'is never taken from %s, whose processes cannot be checked here, until its lock is removed',
    (reason, of) => {
      const root = makeRoot();
      const lock = lockFile(root, 'd1');
      const store = openStore(root);
      store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
      leaveLock(lock, 'far', { pid: exitedProcess(), startTime: '1', ...of });
      const claim = () => store.claimDispatch(taskDir, 'd1');
      expect(codeOf(claim)).toBe('STORE_LOCKED');
      expect(claim).toThrow(`(${reason}`);
      expect(claim).toThrow(`If that process no longer runs, remove ${lock}.`);
      rmSync(lock);
      claim();
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
    },
  );

  it('is not confused with that of a process with the same number in another namespace', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    leaveLock(lockFile(root, 'd1'), 'far', { pidNamespace: 'pid:[1]' });
    const claim = () => store.claimDispatch(taskDir, 'd1');
    expect(claim).toThrow(`process ${process.pid} on `);
    expect(claim).not.toThrow('another open store of this process');
  });

  it.runIf(currentProcess().startTime !== null)(
    'is taken over from a process that exited and whose number another process has now',
    () => {
      const root = makeRoot();
      const store = openStore(root);
      store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
      leaveLock(lockFile(root, 'd1'), 'gone', { pid: process.ppid, startTime: '1' });
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
    },
  );

  it('is not blocked by a lock file that a loss of power emptied', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    writeFileSync(lockFile(root, 'd1'), '');
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
  });

  it('is never an entry of a listing', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    leaveExpiredLock(lockFile(root, 'd2'));
    expect(store.getDispatchEnvelopes(taskDir).map(({ dispatchId }) => dispatchId)).toEqual(['d1']);
    expect(store.listTasks()).toEqual([{ taskDir, task: null }]);
  });
});
