import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentProcess, type ProcessOwner } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { type Files, systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import {
  codeOf,
  dispatchFile,
  makeEvent,
  makeRoot,
  manualTime,
  openClaimed,
  openStore,
  taskDir,
} from './sample.ts';

const leaseMs = 15_000;

const lockFile = (root: string, dispatchId: string, epoch: number) =>
  dispatchFile(root, dispatchId).replace(/json$/, `lock.${epoch}`);

/** The number of a process that has certainly exited. */
function exitedProcess(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

/** Writes a lock of this boot and PID namespace, with some changes. */
function leaveLock(path: string, token: string, changes: Partial<ProcessOwner>): void {
  writeFileSync(path, JSON.stringify({ ...currentProcess(), leaseMs, ...changes, token }));
}

function leaveExpiredLock(path: string, token = 'gone'): void {
  leaveLock(path, token, { pid: exitedProcess(), startTime: '1' });
}

/** A store with an ended dispatch, whose next claim has the number 2. */
function withEnded(
  root: string,
  ...more: Parameters<typeof openStore> extends [string, ...infer R] ? R : never
) {
  const store = openStore(root, ...more);
  store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
  return store;
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
    expect(existsSync(lockFile(root, 'd1', 1))).toBe(true);
    first.releaseDispatch(taskDir, 'd1');
    expect(existsSync(lockFile(root, 'd1', 1))).toBe(false);
    second.claimDispatch(taskDir, 'd1');
    second.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(codeOf(() => first.appendEvent(taskDir, 'd1', makeEvent(3)))).toBe('STORE_LOCKED');
    second.close();
    first.claimDispatch(taskDir, 'd1');
    first.appendEvent(taskDir, 'd1', makeEvent(3));
    expect(first.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2), makeEvent(3)]);
  });

  it('can be claimed when a lock is missing below the last one, whose owner exited before it recorded its number', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveExpiredLock(lockFile(root, 'd1', 3));
    expect(store.claimDispatch(taskDir, 'd1').epoch).toBe(4);
    expect([2, 3, 4].filter((epoch) => existsSync(lockFile(root, 'd1', epoch)))).toEqual([4]);
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
  });

  it('is refused with the name of the owner when a lock is missing below the last one, and leaves none there', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveLock(lockFile(root, 'd1', 3), 'other', {});
    expect(() => store.claimDispatch(taskDir, 'd1')).toThrow(String(process.pid));
    expect([2, 3].filter((epoch) => existsSync(lockFile(root, 'd1', epoch)))).toEqual([3]);
  });

  it('is seen while another store takes it over from a process that has exited', () => {
    const root = makeRoot();
    const taker = withEnded(root);
    leaveExpiredLock(lockFile(root, 'd1', 2));
    let isTaken = false;
    const lstat: Files['lstat'] = (path) => {
      if (path.endsWith('.lock.2') && !isTaken) {
        isTaken = true;
        taker.claimDispatch(taskDir, 'd1');
      }
      return systemFiles.lstat(path);
    };
    const observer = openStore(root, {}, { files: { ...systemFiles, lstat } });
    expect(observer.findClaim(taskDir, 'd1')).toMatchObject({ isOwn: false, state: 'running' });
    expect(isTaken).toBe(true);
  });

  it('has a number that grows with each claim, by any store, and stays with a repeated claim', () => {
    const root = makeRoot();
    const [first, second] = [openStore(root), openStore(root)];
    first.createDispatch(taskDir, makeEnvelope('d1'));
    const epochs = [first.claimDispatch(taskDir, 'd1').epoch];
    for (const store of [first, second, first, second]) {
      for (const each of [first, second]) each.releaseDispatch(taskDir, 'd1');
      epochs.push(store.claimDispatch(taskDir, 'd1').epoch);
      expect(store.claimDispatch(taskDir, 'd1').epoch).toBe(epochs.at(-1));
    }
    expect(epochs).toEqual([1, 2, 3, 4, 5]);
  });

  it('is required by a write without a claim, whose error says what to do and names the owner if there is one', () => {
    const root = makeRoot();
    const store = withEnded(root);
    const append = () => store.appendEvent(taskDir, 'd1', makeEvent(1));
    const asked = `has not claimed dispatch d1 of ${taskDir}. Claim it before you write to it.`;
    expect(append).toThrow(new RegExp(`${asked}$`));
    const other = openClaimed(root);
    expect(append).toThrow(
      `${asked} Dispatch d1 belongs to another open store of this process (${process.pid}).`,
    );
    expect(append).toThrow(`run hansard store unlock ${taskDir}/d1.`);
    other.close();
    leaveExpiredLock(lockFile(root, 'd1', 3));
    expect(append).toThrow(new RegExp(`${asked}$`));
  });

  it('is taken over from a process that has exited', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveExpiredLock(lockFile(root, 'd1', 2));
    expect(store.claimDispatch(taskDir, 'd1').epoch).toBe(3);
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(JSON.parse(readFileSync(lockFile(root, 'd1', 3), 'utf8'))).toMatchObject({ pid: process.pid });
    store.close();
    expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
  });

  it('is taken over from a process that exited during its own takeover', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveExpiredLock(lockFile(root, 'd1', 2));
    leaveExpiredLock(lockFile(root, 'd1', 3), 'gone-too');
    writeFileSync(dispatchFile(root, '.d1.3').replace(/json$/, 'tmp'), 'half a copy');
    expect(store.claimDispatch(taskDir, 'd1').epoch).toBe(4);
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.close();
    expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
  });

  it('is not taken from a running process whose takeover is in progress', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveExpiredLock(lockFile(root, 'd1', 2));
    leaveLock(lockFile(root, 'd1', 3), 'alive', { pid: process.ppid, startTime: null });
    const claim = () => store.claimDispatch(taskDir, 'd1');
    expect(claim).toThrow(`process ${process.ppid}`);
    expect(claim).toThrow(`run hansard store unlock ${taskDir}/d1.`);
  });

  it.each<[string, Partial<ProcessOwner>]>([
    ['another host', { host: 'elsewhere' }],
    ['another boot of the machine', { bootId: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])(
    'is taken from %s, whose processes cannot be checked here, after its heartbeat stood still for a lease',
    (reason, of) => {
      const root = makeRoot();
      const time = manualTime();
      const store = withEnded(root, {}, time);
      leaveLock(lockFile(root, 'd1', 2), 'far', { pid: exitedProcess(), startTime: '1', ...of });
      const claim = () => store.claimDispatch(taskDir, 'd1');
      expect(claim).toThrow(`(${reason}`);
      expect(claim).toThrow('Its claim expires in 15 s if its owner does not renew it.');
      time.clock.advance(leaseMs - 1);
      expect(codeOf(claim)).toBe('STORE_LOCKED');
      time.clock.advance(1);
      claim();
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
      store.close();
      expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
    },
  );

  it('is not confused with that of a process with the same number in another namespace', () => {
    const root = makeRoot();
    const store = withEnded(root);
    leaveLock(lockFile(root, 'd1', 2), 'far', { pidNamespace: 'pid:[1]' });
    const claim = () => store.claimDispatch(taskDir, 'd1');
    expect(claim).toThrow(`process ${process.pid} on `);
    expect(claim).not.toThrow('another open store of this process');
  });

  it.runIf(currentProcess().startTime !== null)(
    'is taken over from a process that exited and whose number another process has now',
    () => {
      const root = makeRoot();
      const store = withEnded(root);
      leaveLock(lockFile(root, 'd1', 2), 'gone', { pid: process.ppid, startTime: '1' });
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1)]);
    },
  );

  it.each(['', '{', '{"pid":4711,"host":"a', '\0\0\0', '\0\0\0"token":"a"}'])(
    'is blocked for a lease by locks that a loss of power emptied: %j',
    (content) => {
      const root = makeRoot();
      const time = manualTime();
      const store = withEnded(root, {}, time);
      for (const epoch of [2, 3]) writeFileSync(lockFile(root, 'd1', epoch), content);
      expect(codeOf(() => store.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
      time.clock.advance(leaseMs);
      store.claimDispatch(taskDir, 'd1');
      store.appendEvent(taskDir, 'd1', makeEvent(1));
      expect(store.getDispatchEvents(taskDir, 'd1')).toHaveLength(1);
    },
  );

  it('is not taken from a lock that this version cannot read, until a person ends that claim', () => {
    const root = makeRoot();
    const time = manualTime();
    const store = withEnded(root, {}, time);
    writeFileSync(lockFile(root, 'd1', 2), 'the lock of a later version');
    const claim = () => store.claimDispatch(taskDir, 'd1');
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    time.clock.advance(10 * leaseMs);
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    store.breakClaim(taskDir, 'd1');
    claim();
  });

  it('is never an entry of a listing', () => {
    const root = makeRoot();
    const store = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    leaveExpiredLock(lockFile(root, 'd2', 1));
    expect(store.getDispatchEnvelopes(taskDir).map(({ dispatchId }) => dispatchId)).toEqual(['d1']);
    expect(store.listTasks()).toEqual([{ taskDir, task: null }]);
  });
});

describe('two creations at once', () => {
  it('leave no lock that keeps the id from being used after a deletion', () => {
    const root = makeRoot();
    const first = openStore(root);
    let isFirstLink = true;
    const files: Files = {
      ...systemFiles,
      link(from, to) {
        if (isFirstLink && to.endsWith('.lock.1')) {
          isFirstLink = false;
          first.createDispatch(taskDir, makeEnvelope('d1'));
          first.releaseDispatch(taskDir, 'd1');
          first.claimDispatch(taskDir, 'd1');
        }
        systemFiles.link(from, to);
      },
    };
    first.createDispatch(taskDir, makeEnvelope('d0'));
    const second = openStore(root, {}, { files });
    expect(codeOf(() => second.createDispatch(taskDir, makeEnvelope('d1')))).toBe('STORE_DISPATCH_EXISTS');
    expect(existsSync(lockFile(root, 'd1', 1))).toBe(false);
    first.deleteDispatch(taskDir, 'd1');
    first.createDispatch(taskDir, makeEnvelope('d1'));
  });
});

describe('a deletion that loses its claim between its two checks', () => {
  it('is refused, and its opening claims and writes again after the next owner', () => {
    const root = makeRoot();
    const second = openStore(root);
    let looks = Number.NEGATIVE_INFINITY;
    const lstat = (path: string) => {
      if (path === lockFile(root, 'd1', 2)) looks += 1;
      if (looks === 2) {
        looks = Number.NEGATIVE_INFINITY;
        second.breakClaim(taskDir, 'd1');
        second.claimDispatch(taskDir, 'd1');
      }
      return systemFiles.lstat(path);
    };
    const first = openStore(root, {}, { files: { ...systemFiles, lstat } });
    first.createDispatch(taskDir, makeEnvelope('d1'));
    first.appendEvent(taskDir, 'd1', makeEvent(1));
    looks = 0;
    expect(codeOf(() => first.deleteDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
    second.appendEvent(taskDir, 'd1', makeEvent(2));
    second.releaseDispatch(taskDir, 'd1');
    expect(first.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
    first.claimDispatch(taskDir, 'd1');
    first.appendEvent(taskDir, 'd1', makeEvent(3));
    expect(second.getDispatchEvents(taskDir, 'd1')).toHaveLength(3);
    first.close();
  });
});

describe('a creation after one whose last step failed', () => {
  it('is refused, and does not write into the dispatch that was created', () => {
    const root = makeRoot();
    const refused = Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'unlink' });
    const remove = (path: string) => {
      if (path.endsWith('.tmp') && path.includes('.d1.')) throw refused;
      return systemFiles.remove(path);
    };
    const second = openStore(root);
    second.createDispatch(taskDir, makeEnvelope('d0'));
    const first = openStore(root, {}, { files: { ...systemFiles, remove } });
    let isFirstLook = true;
    const stat = (path: string) => {
      const stats = systemFiles.stat(path);
      if (isFirstLook && path === dispatchFile(root, 'd1')) {
        isFirstLook = false;
        codeOf(() => first.createDispatch(taskDir, makeEnvelope('d1', { title: 'of the first' })));
      }
      return stats;
    };
    const third = openStore(root, {}, { files: { ...systemFiles, stat } });
    const create = () => third.createDispatch(taskDir, makeEnvelope('d1', { title: 'of the third' }));
    expect(codeOf(create)).toBe('STORE_DISPATCH_EXISTS');
    expect(second.getDispatchEnvelope(taskDir, 'd1')?.title).toBe('of the first');
  });
});
