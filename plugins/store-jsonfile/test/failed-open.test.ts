import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentProcess } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { type Files, systemFiles } from '../src/files.ts';
import { makeEnvelope } from './envelope.ts';
import { codeOf, dispatchFile, makeEvent, makeRoot, manualTime, openStore, taskDir } from './sample.ts';

type PathOperation = 'open' | 'lstat' | 'remove' | 'link' | 'rename';

/** A file system that refuses calls whose first path contains `part`, after it has done some of them. */
function refusingFiles() {
  const refused = { operations: [] as PathOperation[], part: '', code: '', after: 0 };
  const assertAllowed = (operation: PathOperation, path: string) => {
    if (!refused.operations.includes(operation) || !path.includes(refused.part)) return;
    refused.after -= 1;
    const { after, code } = refused;
    if (after < 0)
      throw Object.assign(new Error(`${code}: ${operation} '${path}'`), { code, syscall: operation, path });
  };
  const checked = <T extends unknown[], R>(operation: PathOperation, work: (path: string, ...rest: T) => R) =>
    ((path, ...rest) => {
      assertAllowed(operation, path);
      return work(path, ...rest);
    }) as typeof work;
  const files: Files = {
    ...systemFiles,
    open: checked('open', systemFiles.open),
    lstat: checked('lstat', systemFiles.lstat),
    remove: checked('remove', systemFiles.remove),
    link: checked('link', systemFiles.link),
    rename: checked('rename', systemFiles.rename),
  };
  const refusing = <T>(part: string, code: string, work: () => T, after = 0): T => {
    const operations: PathOperation[] = code === 'EMFILE' ? ['open'] : ['open', 'remove', 'rename'];
    Object.assign(refused, { part, code, after, operations });
    try {
      return work();
    } finally {
      refused.operations = [];
    }
  };
  return { files, refusing };
}

const task = {
  slug: 'maps',
  name: 'Maps',
  project: 'lab',
  status: 'open',
  created: '2026-03-01T09:30:00.000Z',
};

describe('a store that could not open another file while it released a dispatch', () => {
  it('has released it all the same', () => {
    const root = makeRoot();
    const { files, refusing } = refusingFiles();
    const [store, other] = [openStore(root, {}, { files }), openStore(root)];
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    expect(refusing('', 'EMFILE', () => codeOf(() => store.releaseDispatch(taskDir, 'd1')))).toBe('none');
    other.claimDispatch(taskDir, 'd1');
    other.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(other.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
  });
});

describe('a store whose lock could not be removed when it was released', () => {
  function released() {
    const root = makeRoot();
    const time = manualTime();
    const { files, refusing } = refusingFiles();
    const store = openStore(root, {}, { files, ...time });
    const other = openStore(root);
    store.createDispatch(taskDir, makeEnvelope('d1'));
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.updateDispatch(taskDir, 'd1', { status: 'completed' });
    expect(refusing('.lock', 'EIO', () => codeOf(() => store.releaseDispatch(taskDir, 'd1')))).toBe('none');
    expect(codeOf(() => other.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
    return { store, other, time };
  }

  it('writes late events to the dispatch when the disk works again', () => {
    const { store } = released();
    store.claimDispatch(taskDir, 'd1');
    store.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(store.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
  });

  it.each<[string, (store: ReturnType<typeof released>) => void]>([
    ['with the next lock that it takes', ({ store }) => store.createDispatch(taskDir, makeEnvelope('d2'))],
    ['with its next heartbeat', ({ time }) => time.clock.advance(5_000)],
    ['when it closes', ({ store }) => store.close()],
  ])('lets other stores write %s', (_, next) => {
    const found = released();
    next(found);
    found.other.claimDispatch(taskDir, 'd1');
    found.other.appendEvent(taskDir, 'd1', makeEvent(2));
    expect(found.other.getDispatchEvents(taskDir, 'd1')).toEqual([makeEvent(1), makeEvent(2)]);
  });

  it('has no timer when nothing is claimed or waits to be released', () => {
    const { time } = released();
    // That of the lock, and that of the index of the task.
    expect(time.clock.timers).toBe(2);
    time.clock.advance(5_000);
    expect(time.clock.timers).toBe(0);
  });
});

it.each(['EMFILE', 'EIO'])(
  'the record of a task is written again at once after its lock could not be released (%s)',
  (code) => {
    const root = makeRoot();
    const { files, refusing } = refusingFiles();
    const [store, other] = [openStore(root, {}, { files }), openStore(root)];
    store.putTask(taskDir, task);
    refusing('.task.lock', code, () => codeOf(() => store.putTask(taskDir, task)), 1);
    store.putTask(taskDir, { ...task, status: 'done' });
    expect(store.findTask(taskDir)).toEqual({ ...task, status: 'done' });
    other.putTask(taskDir, { ...task, status: 'open' });
    expect(store.findTask(taskDir)).toEqual({ ...task, status: 'open' });
  },
);

it('the record of a task that another process writes without an end is STORE_LOCKED after 100 milliseconds', () => {
  const root = makeRoot();
  const time = manualTime();
  const store = openStore(root, {}, time);
  store.putTask(taskDir, task);
  const owner = { ...currentProcess(), pid: process.ppid, startTime: null, leaseMs: 15_000, token: 'busy' };
  writeFileSync(join(root, taskDir, '.task.lock.1'), JSON.stringify(owner));
  const before = time.clock.monotonic();
  expect(codeOf(() => store.putTask(taskDir, task))).toBe('STORE_LOCKED');
  expect(time.clock.monotonic() - before).toBeLessThan(110);
});

it.each([0, 1, 2, 3])(
  'a takeover that the system refused at step %i does not prevent later claims',
  (after) => {
    const root = makeRoot();
    const time = manualTime();
    const { files, refusing } = refusingFiles();
    const [store, other] = [openStore(root, {}, { files, ...time }), openStore(root, {}, time)];
    store.createDispatch(taskDir, makeEnvelope('d1', { status: 'completed' }));
    const lock = dispatchFile(root, 'd1').replace(/json$/, 'lock.2');
    const gone = { ...currentProcess(), host: 'elsewhere', leaseMs: 15_000, token: 'gone' };
    writeFileSync(lock, JSON.stringify(gone));
    const claim = () => store.claimDispatch(taskDir, 'd1');
    for (const each of [store, other])
      expect(codeOf(() => each.claimDispatch(taskDir, 'd1'))).toBe('STORE_LOCKED');
    time.clock.advance(15_000);
    expect(refusing('dispatches/', 'EMFILE', () => codeOf(claim), after)).toBe('STORE_UNAVAILABLE');
    expect(existsSync(dispatchFile(root, 'd1'))).toBe(true);
    other.claimDispatch(taskDir, 'd1');
    other.appendEvent(taskDir, 'd1', makeEvent(1));
    other.close();
    claim();
    store.appendEvent(taskDir, 'd1', makeEvent(1));
    store.close();
    expect(readdirSync(join(root, taskDir, 'dispatches'))).toEqual(['d1.json']);
  },
);
