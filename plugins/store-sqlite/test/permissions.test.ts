import { chmodSync, copyFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dispatchId, envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { thisSystem } from '../src/database/open-database.ts';
import { openConnection } from '../src/store-connection.ts';
import { codeOf, openClaimed, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const isRoot = process.geteuid?.() === 0;
const nobody = 65534;

/** Runs `work` as a user who may read the files of the database, and may write nothing. */
function asReader<T>(path: string, work: () => T): T {
  const folder = dirname(path);
  const setMode = (mode: number) => {
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), mode);
  };
  setMode(0o444);
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.(nobody);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
    setMode(0o644);
  }
}

describe.skipIf(process.platform === 'win32')('a user who may read the database but not write it', () => {
  it('reads one that no process has open, and creates no files', () => {
    const path = temporaryPath();
    const writer = storeWithDispatch(path);
    writer.appendEvents(taskDir, dispatchId, growingEvents(5));
    writer.close();
    asReader(path, () => {
      const reader = openStore(path);
      expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(5));
      expect(reader.listTasks()).toEqual([{ taskDir, task: null }]);
      reader.close();
      expect(readdirSync(dirname(path))).toEqual(['hansard.sqlite', 'hansard.sqlite-lengths']);
    });
  });

  it('reads the latest events of one that a writer has open', () => {
    const path = temporaryPath();
    const writer = storeWithDispatch(path);
    writer.appendEvent(taskDir, dispatchId, textEvent('a'));
    const reader = asReader(path, () => openStore(path));
    writer.appendEvent(taskDir, dispatchId, textEvent('b'));
    asReader(path, () =>
      expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a'), textEvent('b')]),
    );
  });

  it('reads the events of a later writer, while its store is open and after it is closed', () => {
    const path = temporaryPath();
    storeWithDispatch(path).close();
    const read = () => asReader(path, () => reader.getDispatchEvents(taskDir, dispatchId));
    const reader = asReader(path, () => openStore(path));
    expect(read()).toEqual([]);
    const passing = openClaimed(path);
    passing.appendEvent(taskDir, dispatchId, textEvent('a'));
    passing.close();
    expect(read()).toEqual([textEvent('a')]);
    const staying = openClaimed(path);
    staying.appendEvent(taskDir, dispatchId, textEvent('b'));
    expect(read()).toEqual([textEvent('a'), textEvent('b')]);
  });

  it('never gets an answer that was read while a writer opened and closed the database', () => {
    const file = temporaryPath();
    storeWithDispatch(file).close();
    const connection = asReader(file, () =>
      openConnection({
        file,
        durability: 'process',
        busyTimeout: 5_000,
        leaseMs: 15_000,
        access: 'private',
        ...thisSystem,
      }),
    );
    onTestFinished(() => connection.close());
    let isFirst = true;
    const events = connection.use(({ reader }) => {
      const read = reader.all(taskDir, dispatchId);
      if (!isFirst) return read;
      isFirst = false;
      const writer = openClaimed(file);
      writer.appendEvent(taskDir, dispatchId, textEvent('a'));
      writer.close();
      return read;
    });
    expect(events).toEqual([textEvent('a')]);
  });

  it.each([
    ['reads the log that a killed writer left', ['-wal', '-shm'], 'none'],
    ['is refused a log that SQLite can not share with others', ['-wal'], 'STORE_UNAVAILABLE'],
  ])('%s', (_, left, expected) => {
    const path = temporaryPath();
    const writer = storeWithDispatch(path);
    writer.appendEvent(taskDir, dispatchId, textEvent('a'));
    const copy = temporaryPath();
    for (const suffix of ['', ...left]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    const read = () => {
      const reader = openStore(copy);
      expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
      reader.close();
    };
    expect(asReader(copy, () => codeOf(read))).toBe(expected);
  });

  it('is notified of the events of a later writer', async () => {
    const path = temporaryPath();
    storeWithDispatch(path).close();
    const reader = asReader(path, () => openStore(path, { watchInterval: 2 }));
    const notified = new Promise<void>((resolve) => {
      asReader(path, () => reader.watch({ taskDir, dispatchId }, resolve));
    });
    const writer = openClaimed(path);
    writer.appendEvent(taskDir, dispatchId, textEvent('a'));
    await notified;
    expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it.each([
    ['closed', true],
    ['in use', false],
  ])(
    'gets STORE_UNAVAILABLE with advice for each claim, and for each write that needs none, to a database that is %s',
    (_, closed) => {
      const path = temporaryPath();
      const writer = storeWithDispatch(path);
      writer.updateDispatch(taskDir, dispatchId, { status: 'completed' });
      writer.releaseDispatch(taskDir, dispatchId);
      if (closed) writer.close();
      asReader(path, () => {
        const reader = openStore(path);
        const writes = [
          () => reader.createDispatch(taskDir, envelope({ dispatchId: 'another' })),
          () => reader.claimDispatch(taskDir, dispatchId),
          () => reader.putTask(taskDir, {} as never),
          () => reader.deleteDispatch(taskDir, dispatchId),
        ];
        for (const write of writes) {
          expect(codeOf(write)).toBe('STORE_UNAVAILABLE');
          expect(write).toThrow(/may not be written\. Check the permissions/);
        }
        for (const unclaimed of [
          () => reader.updateDispatch(taskDir, dispatchId, { cost: 1 }),
          () => reader.appendEvent(taskDir, dispatchId, textEvent('a')),
          () => reader.appendEvents(taskDir, dispatchId, [textEvent('a')]),
        ])
          expect(codeOf(unclaimed)).toBe('STORE_LOCKED');
        expect(codeOf(() => reader.releaseDispatch(taskDir, dispatchId))).toBe('none');
        reader.close();
      });
    },
  );

  it('can search only if every event of the task is in the index', () => {
    const path = temporaryPath();
    const writer = storeWithDispatch(path);
    writer.appendEvent(taskDir, dispatchId, textEvent('a', 'apple'));
    writer.searchEvents('apple', { taskDir });
    const reader = asReader(path, () => openStore(path));
    const search = () => asReader(path, () => reader.searchEvents('apple', { taskDir }).length);
    expect(search()).toBe(1);
    writer.appendEvent(taskDir, dispatchId, textEvent('b', 'apple'));
    expect(codeOf(search)).toBe('STORE_UNAVAILABLE');
    writer.searchEvents('apple', { taskDir });
    expect(search()).toBe(2);
  });

  it('reads an empty folder as an empty store, and is refused a write to it', () => {
    const path = temporaryPath();
    asReader(path, () => {
      const reader = openStore(path);
      expect(reader.listTasks()).toEqual([]);
      expect(codeOf(() => reader.createDispatch(taskDir, envelope()))).toBe('STORE_UNAVAILABLE');
      reader.close();
    });
  });
});
