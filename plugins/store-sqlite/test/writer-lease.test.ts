import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { currentProcess, type ProcessOwner } from '@hansard/provider/process-owner';
import { describe, expect, it } from 'vitest';
import { dispatchId, envelope, taskDir, textEvent } from './sample-data.ts';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

/** Runs SQL on the database beside its stores. */
function runSql(path: string, sql: string, ...values: string[]): void {
  const database = new DatabaseSync(path);
  database.prepare(sql).run(...values);
  database.close();
}

/** A store whose dispatch another store has: this process, but for what is changed. */
function ownedBy(path: string, changes: Partial<ProcessOwner>) {
  const store = storeWithDispatch(path);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const owner = JSON.stringify({ ...currentProcess(), pid, startTime: '1', ...changes });
  runSql(path, 'UPDATE writers SET token = ?, owner = ?', 'other', owner);
  return store;
}

describe('the writer of a dispatch', () => {
  it.each<[string, Partial<ProcessOwner>]>([
    ['another host', { host: 'elsewhere' }],
    ['another boot of the machine', { bootId: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])('keeps it where it is of %s, which nobody here can ask, until its row is removed', (reason, of) => {
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
  });

  it('gives it up where its process has exited', () => {
    const store = ownedBy(temporaryPath(), {});
    store.claimDispatch(taskDir, dispatchId);
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it.runIf(currentProcess().startTime !== null)(
    'gives it up where its process has exited and another process has its number now',
    () => {
      const store = ownedBy(temporaryPath(), { pid: process.ppid });
      store.claimDispatch(taskDir, dispatchId);
      store.appendEvent(taskDir, dispatchId, textEvent('a'));
      expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
    },
  );

  it('is one store at a time: another is refused with its name, for every kind of write', () => {
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
      expect(write).toThrow(`process ${process.pid} on`);
    }
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it('is who creates it running, before its first event', () => {
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

  it('is nobody where it is created ended', () => {
    const path = temporaryPath();
    openStore(path).createDispatch(taskDir, envelope({ status: 'completed' }));
    const second = openStore(path);
    expect(() => second.appendEvent(taskDir, dispatchId, textEvent('a'))).toThrow(
      new RegExp(`has not claimed dispatch ${dispatchId}; claim it first\\.$`),
    );
    second.claimDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('a'));
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
  });

  it('does not stand in the way of other dispatches', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    const second = openStore(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    second.createDispatch(taskDir, envelope({ dispatchId: 'another' }));
    second.appendEvent(taskDir, 'another', textEvent('a'));
    expect(first.getDispatchEvents(taskDir, 'another')).toEqual([textEvent('a')]);
  });

  it('changes when the dispatch is released, and the first can claim it again when the second is closed', () => {
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

  it('that lost its lease unawares is refused instead of writing over what the new one wrote', () => {
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
