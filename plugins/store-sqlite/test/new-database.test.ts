import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

describe('a store whose database does not exist yet', () => {
  it('may have a path with characters that are special in a URL', () => {
    const path = join(dirname(temporaryPath()), 'a b?c#d%41&mode=ro', 'hansard.sqlite');
    const store = storeWithDispatch(path);
    expect(store.listTasks()).toEqual([{ taskDir, task: null }]);
    expect(readdirSync(dirname(path))).toContain('hansard.sqlite');
  });

  it('reads as an empty one, and reading creates neither a file nor a folder', () => {
    const root = dirname(temporaryPath());
    const store = openStore(join(root, 'new', 'hansard.sqlite'));
    expect(store.listTasks()).toEqual([]);
    expect(store.findTask(taskDir)).toBeNull();
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([]);
    expect(store.getDispatchEnvelope(taskDir, dispatchId)).toBeNull();
    expect(store.searchEvents('word', { taskDir })).toEqual([]);
    for (const call of [
      () => store.getDispatchEvents(taskDir, dispatchId),
      () => store.watch({ taskDir, dispatchId }, () => {}),
      () => store.appendEvent(taskDir, dispatchId, textEvent('a')),
      () => store.updateDispatch(taskDir, dispatchId, { cost: 1 }),
      () => store.deleteDispatch(taskDir, dispatchId),
    ])
      expect(codeOf(call)).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(codeOf(() => store.createDispatch('..', envelope()))).toBe('STORE_INVALID_PATH');
    store.close();
    expect(readdirSync(root)).toEqual([]);
  });

  it('creates it at the first write, complete, with the file of lengths and no other file', () => {
    const path = temporaryPath();
    const store = openStore(path);
    store.createDispatch(taskDir, envelope());
    expect(store.getDispatchEnvelopes(taskDir)).toEqual([envelope()]);
    store.close();
    expect(readdirSync(dirname(path))).toEqual(['hansard.sqlite', 'hansard.sqlite-lengths']);
    expect(openStore(path).getDispatchEnvelopes(taskDir)).toEqual([envelope()]);
  });

  it('shows what another store creates meanwhile, and writes to the same database', () => {
    const path = temporaryPath();
    const readsFirst = openStore(path);
    const writesFirst = openStore(path);
    const writes = storeWithDispatch(path);
    expect(readsFirst.listTasks()).toEqual([{ taskDir, task: null }]);
    writesFirst.createDispatch(taskDir, envelope({ dispatchId: 'another' }));
    expect(writes.getDispatchEnvelopes(taskDir)).toHaveLength(2);
  });
});

describe('a database that was lost', () => {
  it('is STORE_CORRUPT if its file was emptied, and is not changed', () => {
    const path = temporaryPath();
    writeFileSync(path, '');
    expect(codeOf(() => openStore(path))).toBe('STORE_CORRUPT');
    expect(readdirSync(dirname(path))).toEqual(['hansard.sqlite']);
  });

  it('is STORE_CORRUPT if its file is emptied before the first write', () => {
    const path = temporaryPath();
    const store = openStore(path);
    writeFileSync(path, '');
    expect(codeOf(() => store.listTasks())).toBe('STORE_CORRUPT');
    expect(codeOf(() => store.createDispatch(taskDir, envelope()))).toBe('STORE_CORRUPT');
  });

  it('is STORE_CORRUPT if only its write-ahead log exists', () => {
    const path = temporaryPath();
    const writer = storeWithDispatch(path);
    rmSync(path);
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(codeOf(() => openStore(path))).toBe('STORE_CORRUPT');
    expect(codeOf(() => writer.close())).toBe('STORE_CORRUPT');
  });

  it('is STORE_UNAVAILABLE if its path is a symbolic link to nothing', () => {
    const path = temporaryPath();
    symlinkSync(`${path}.gone`, path);
    expect(codeOf(() => openStore(path))).toBe('STORE_UNAVAILABLE');
  });

  it('is STORE_UNAVAILABLE if a database without tables is at its path', () => {
    const path = temporaryPath();
    const raw = new DatabaseSync(path);
    raw.exec('CREATE TABLE passing (a); DROP TABLE passing');
    raw.close();
    expect(codeOf(() => openStore(path))).toBe('STORE_UNAVAILABLE');
  });
});
