import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { currentProcess, type ProcessOwner } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { dispatchId, envelope, taskDir, textEvent } from './sample-data.ts';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

/** Runs SQL on the database while stores have it open. */
function runSql(path: string, sql: string, ...values: string[]): void {
  const database = new DatabaseSync(path);
  database.prepare(sql).run(...values);
  database.close();
}

/** A store whose dispatch belongs to another store, of an exited process like this one with some changes. */
function ownedBy(path: string, changes: Partial<ProcessOwner>) {
  const store = storeWithDispatch(path);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const owner = JSON.stringify({ ...currentProcess(), pid, startTime: '1', ...changes });
  runSql(path, 'UPDATE writers SET token = ?, owner = ?', 'other', owner);
  return store;
}

describe('the lease of a dispatch', () => {
  it.each<[string, Partial<ProcessOwner>]>([
    ['another host', { host: 'elsewhere' }],
    ['another boot of the machine', { bootId: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])(
    'is never taken from %s, whose processes cannot be checked here, until its row is removed',
    (reason, of) => {
      const path = temporaryPath();
      const store = ownedBy(path, of);
      const append = () => {
        store.claimDispatch(taskDir, dispatchId);
        store.appendEvent(taskDir, dispatchId, textEvent('a'));
      };
      expect(codeOf(append)).toBe('STORE_LOCKED');
      expect(append).toThrow(`(${reason}`);
      expect(append).toThrow(`sqlite3 '${path}' "DELETE FROM writers WHERE dispatch = 1"`);
      runSql(path, 'DELETE FROM writers WHERE dispatch = 1');
      append();
      expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
    },
  );

  it('is taken over from a process that has exited', () => {
    const store = ownedBy(temporaryPath(), {});
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it.runIf(currentProcess().startTime !== null)(
    'is taken over from a process that has exited and whose number another process has now',
    () => {
      const store = ownedBy(temporaryPath(), { pid: process.ppid });
      store.claimDispatch(taskDir, dispatchId);
      store.appendEvent(taskDir, dispatchId, textEvent('a'));
      expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
    },
  );

  it('belongs to one store at a time: another one is refused with the name of the owner, for every kind of write', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    const second = openStore(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    for (const write of [
      () => second.claimDispatch(taskDir, dispatchId),
      () => second.appendEvent(taskDir, dispatchId, textEvent('b')),
      () => second.appendEvents(taskDir, dispatchId, [textEvent('b')]),
      () => second.updateDispatch(taskDir, dispatchId, { cost: 1 }),
      () => second.deleteDispatch(taskDir, dispatchId),
    ]) {
      expect(codeOf(write)).toBe('STORE_LOCKED');
      expect(write).toThrow(`another open store of this process (${process.pid})`);
    }
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it('belongs to the store that creates the dispatch as running, before the first event', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    const second = openStore(path);
    expect(codeOf(() => second.appendEvent(taskDir, dispatchId, textEvent('a')))).toBe('STORE_LOCKED');
    expect(codeOf(() => second.updateDispatch(taskDir, dispatchId, { status: 'crashed' }))).toBe(
      'STORE_LOCKED',
    );
    first.updateDispatch(taskDir, dispatchId, { status: 'completed' });
    expect(codeOf(() => second.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
    first.releaseDispatch(taskDir, dispatchId);
    second.claimDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('a'));
  });

  it('belongs to no store if the dispatch is created as ended', () => {
    const path = temporaryPath();
    openStore(path).createDispatch(taskDir, envelope({ status: 'completed' }));
    const second = openStore(path);
    expect(() => second.appendEvent(taskDir, dispatchId, textEvent('a'))).toThrow(
      new RegExp(
        `has not claimed dispatch ${dispatchId} of ${taskDir}\\. Claim it before you write to it\\.$`,
      ),
    );
    second.claimDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it('does not prevent writes to other dispatches', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    const second = openStore(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    second.createDispatch(taskDir, envelope({ dispatchId: 'another' }));
    second.appendEvent(taskDir, 'another', textEvent('a'));
    expect(first.getDispatchEvents(taskDir, 'another')).toEqual([textEvent('a')]);
  });

  it('is free when the dispatch is released, and free again when the second store is closed', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    const second = openStore(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    first.updateDispatch(taskDir, dispatchId, { status: 'completed' });
    first.releaseDispatch(taskDir, dispatchId);
    second.claimDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('b'));
    expect(codeOf(() => first.appendEvent(taskDir, dispatchId, textEvent('c')))).toBe('STORE_LOCKED');
    second.close();
    first.claimDispatch(taskDir, dispatchId);
    first.appendEvent(taskDir, dispatchId, textEvent('c'));
    expect(first.getRecentEvents(taskDir, dispatchId, 9).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('that was lost unnoticed makes an append STORE_LOCKED, which never replaces an event of the new owner', () => {
    const path = temporaryPath();
    const store = storeWithDispatch(path);
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    const raw = new DatabaseSync(path);
    raw.prepare('UPDATE writers SET token = ?, owner = ?').run('other', JSON.stringify(currentProcess()));
    raw.prepare('INSERT INTO events SELECT dispatch, 1, ? FROM events').run(JSON.stringify(textEvent('b')));
    raw.close();
    expect(codeOf(() => store.appendEvent(taskDir, dispatchId, textEvent('c')))).toBe('STORE_LOCKED');
    expect(codeOf(() => store.appendEvent(taskDir, dispatchId, textEvent('c')))).toBe('STORE_LOCKED');
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a'), textEvent('b')]);
  });
});
