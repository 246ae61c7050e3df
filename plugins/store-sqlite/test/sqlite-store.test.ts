import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dispatchId, envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { expect, it, onTestFinished } from 'vitest';
import plugin from '../src/index.ts';
import { openStoreOn } from '../src/sqlite-store.ts';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

it('is created by the plugin below its root, relative to the folder of the configuration', async () => {
  const path = temporaryPath();
  const baseDir = dirname(path);
  const signal = new AbortController().signal;
  const store = await plugin.create({ root: 'a/b', durability: 'disk' }, { baseDir, signal });
  onTestFinished(() => store.close());
  expect(store.capabilities).toEqual({
    durability: 'disk',
    writers: 'dispatch',
    search: 'index',
    watch: true,
    deleteDispatch: true,
    rewrite: true,
    integrity: 'checksum',
  });
  await store.createDispatch(taskDir, envelope());
  const raw = new DatabaseSync(join(baseDir, 'a/b/hansard.sqlite'), { readOnly: true });
  onTestFinished(() => raw.close());
  expect(raw.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
});

it('has a manifest that agrees with the plugin', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../plugin.json'), 'utf8'));
  expect(manifest).toMatchObject({ id: plugin.id, provides: plugin.provides });
  expect(Object.keys(manifest.configSchema.properties)).toEqual(['root', 'durability', 'leaseMs', 'access']);
});

it('stores an event as the same line as every other store', () => {
  const path = temporaryPath();
  const store = storeWithDispatch(path);
  store.appendEvent(taskDir, dispatchId, textEvent('a', 'a\0b\ud800'));
  store.close();
  const raw = new DatabaseSync(path);
  onTestFinished(() => raw.close());
  expect(raw.prepare('SELECT line FROM events').all()).toEqual([
    {
      line: '{"id":"a","type":"agent:text","timestamp":"2026-03-01T09:00:01.000Z","data":{"text":"a\\u0000b\\ud800"}}',
    },
  ]);
});

it('keeps dispatches of the same id in two tasks apart', () => {
  const store = storeWithDispatch();
  store.createDispatch('another/task', envelope());
  store.appendEvents(taskDir, dispatchId, growingEvents(3));
  store.appendEvent('another/task', dispatchId, textEvent('a'));
  store.deleteDispatch(taskDir, dispatchId);
  expect(store.getDispatchEvents('another/task', dispatchId)).toEqual([textEvent('a')]);
  expect(store.listTasks()).toEqual([{ taskDir: 'another/task', task: null }]);
});

it('returns pages by position and an empty page at the end, and refuses a cursor after it', () => {
  const store = storeWithDispatch();
  expect(store.readEvents(taskDir, dispatchId)).toEqual({ events: [], first: 0, next: -1 });
  const events = growingEvents(5);
  store.appendEvents(taskDir, dispatchId, events);
  expect(store.readEvents(taskDir, dispatchId, { after: 1, limit: 2 })).toEqual({
    events: events.slice(2, 4),
    first: 2,
    next: 3,
  });
  expect(store.readEvents(taskDir, dispatchId, { after: 4 })).toEqual({ events: [], first: 5, next: 4 });
  expect(codeOf(() => store.readEvents(taskDir, dispatchId, { after: 5 }))).toBe('STORE_INVALID_CURSOR');
});

it('deletes a dispatch with all its data, and can create another one with its id', () => {
  const path = temporaryPath();
  const store = storeWithDispatch(path);
  store.appendEvents(taskDir, dispatchId, [textEvent('b'), textEvent('a')]);
  store.searchEvents('text', { taskDir });
  store.deleteDispatch(taskDir, dispatchId);
  expect(codeOf(() => store.appendEvent(taskDir, dispatchId, textEvent('c')))).toBe(
    'STORE_DISPATCH_NOT_FOUND',
  );
  const raw = new DatabaseSync(path);
  onTestFinished(() => raw.close());
  for (const table of ['events', 'event_ids', 'claims', 'dispatches', 'tasks'])
    expect(raw.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
  store.createDispatch(taskDir, envelope());
  store.appendEvent(taskDir, dispatchId, textEvent('a'));
  expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
});

it('answers every call with STORE_CLOSED after close, which may be called twice', async () => {
  const store = openStore(temporaryPath());
  await store[Symbol.asyncDispose]();
  store.close();
  for (const call of [
    () => store.createDispatch(taskDir, envelope()),
    () => store.appendEvent(taskDir, dispatchId, textEvent('a')),
    () => store.searchEvents('word', { taskDir }),
    () => store.watch({ taskDir, dispatchId }, () => {}),
    () => store.listTasks(),
  ])
    expect(codeOf(call)).toBe('STORE_CLOSED');
});

it('closes without waiting for a writer when it only read', () => {
  const path = temporaryPath();
  storeWithDispatch(path).close();
  const reader = openStore(path, { busyTimeout: 1 });
  const raw = new DatabaseSync(path);
  onTestFinished(() => raw.close());
  raw.exec('BEGIN IMMEDIATE');
  expect(reader.getDispatchEvents(taskDir, dispatchId)).toEqual([]);
  expect(codeOf(() => reader.close())).toBe('none');
});

it('refuses the first write on a file system of another machine, whatever the lease, and creates nothing there', () => {
  const path = temporaryPath();
  const remote = () => openStoreOn({ path, leaseMs: 600_000 }, { fileSystemOf: () => 0x6969 });
  const first = remote();
  expect(() => first.createDispatch(taskDir, envelope())).toThrow(/is on NFS, .*Move it to a local disk/);
  expect(existsSync(path)).toBe(false);
  first.close();
  storeWithDispatch(path).close();
  const store = remote();
  onTestFinished(() => store.close());
  expect(() => store.claimDispatch(taskDir, dispatchId)).toThrow(/is on NFS/);
  expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([]);
});
