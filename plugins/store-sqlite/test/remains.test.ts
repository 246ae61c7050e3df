import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent, DispatchRewrite } from '@hansard/provider';
import { currentProcess } from '@hansard/store-kit';
import { dispatchId, envelope, growingEvents, taskDir } from '@hansard/testing/store-samples';
import { afterEach, expect, it, vi } from 'vitest';
import type { SqliteStore } from '../src/index.ts';
import { censusOf } from './census.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';

const secret = 'opensesame';
const event = (id: string, text: string): CapturedEvent => ({
  id,
  type: 'agent:text',
  timestamp: '2026-03-01T10:00:00.000Z',
  data: { text },
});
const rewrite: DispatchRewrite = {
  envelope: (old) => ({ ...old, title: 'closed' }),
  event: (old) => ({ ...old, data: { text: 'closed' } }),
  notice: () => event('z-notice', 'replaced'),
};

afterEach(() => void vi.restoreAllMocks());

/** The files of the store that contain the secret. */
function filesWithIt(path: string): string[] {
  return globSync(`${path}*`).filter((file) => readFileSync(file).includes(secret));
}

/** An ended dispatch whose events have the secret, which are in the index of words. */
function recorded(path: string, id = dispatchId): SqliteStore {
  const store = openStore(path);
  store.createDispatch(taskDir, { ...envelope(), dispatchId: id, title: `${secret} ${'t'.repeat(20_000)}` });
  store.updateDispatch(taskDir, id, { title: `changed ${secret}` });
  const events = Array.from({ length: 20 }, (_, at) =>
    event(`event-${String(at).padStart(2, '0')}`, `${'y '.repeat(5_000)} ${secret}`),
  );
  store.appendEvents(taskDir, id, events);
  expect(store.searchEvents(secret, { taskDir, dispatchId: id })).toHaveLength(20);
  store.updateDispatch(taskDir, id, { status: 'completed' });
  store.releaseDispatch(taskDir, id);
  return store;
}

function textsIn(store: SqliteStore): string {
  return JSON.stringify(store.getDispatchEvents(taskDir, dispatchId));
}

it('has nothing of old content in pages that earlier changes and deletions freed, after its remains were removed', () => {
  const path = temporaryPath();
  const store = recorded(path);
  recorded(path, 'D2-DELETED').deleteDispatch(taskDir, 'D2-DELETED');
  const { remains } = store.rewriteDispatch(taskDir, dispatchId, rewrite);
  expect(remains.join()).toContain(`Unused parts of ${path}`);
  expect(filesWithIt(path)).not.toEqual([]);
  expect(store.removeRemains()).toEqual([]);
  expect(filesWithIt(path)).toEqual([]);
  expect(store.verifyDispatch(taskDir, dispatchId).damages).toEqual([]);
  expect(store.searchEvents('closed')).toHaveLength(20);
});

it('removes what a process left that ended after a rewrite', () => {
  const path = temporaryPath();
  const first = recorded(path);
  const other = recorded(path, 'D2-DELETED');
  other.deleteDispatch(taskDir, 'D2-DELETED');
  other.close();
  first.rewriteDispatch(taskDir, dispatchId, rewrite);
  first.close();
  expect(filesWithIt(path)).not.toEqual([]);
  const second = openStore(path);
  expect(second.removeRemains()).toEqual([]);
  expect(filesWithIt(path)).toEqual([]);
});

it('leaves the index of words to the removal of remains, which can be repeated where it fails', () => {
  const path = temporaryPath();
  const store = recorded(path);
  const merges: string[] = [];
  const exec = DatabaseSync.prototype.exec;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    if (!sql.includes("'optimize'")) return exec.call(this, sql);
    merges.push(sql);
    throw new Error('the disk fails');
  });
  store.rewriteDispatch(taskDir, dispatchId, rewrite);
  expect(merges).toEqual([]);
  expect(textsIn(store)).not.toContain(secret);
  expect(store.searchEvents(secret)).toEqual([]);
  expect(() => store.removeRemains()).toThrow('the disk fails');
  expect(merges).toHaveLength(1);
  vi.restoreAllMocks();
  expect(store.removeRemains()).toEqual([]);
  expect(filesWithIt(path)).toEqual([]);
  expect(store.searchEvents('closed')).toHaveLength(20);
});

it('reports a rewrite as done when another process writes as soon as it is stored', () => {
  const path = temporaryPath();
  const store = recorded(path);
  const other = new DatabaseSync(path);
  const exec = DatabaseSync.prototype.exec;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    exec.call(this, sql);
    if (sql === 'COMMIT' && !other.isTransaction) exec.call(other, 'BEGIN IMMEDIATE');
  });
  expect(store.rewriteDispatch(taskDir, dispatchId, rewrite).remains).toHaveLength(1);
  // Removing remains is a write of its own, which the other process refuses: it can be repeated.
  expect(() => store.removeRemains()).toThrow(
    expect.objectContaining({ code: 'STORE_UNAVAILABLE', isTransient: true }),
  );
  vi.restoreAllMocks();
  other.exec('COMMIT');
  other.close();
  expect(store.removeRemains()).toEqual([]);
  expect([filesWithIt(path), textsIn(store).includes(secret)]).toEqual([[], false]);
});

it('names the file and its log while another process reads the old content', () => {
  const path = temporaryPath();
  const store = recorded(path);
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM events').get();
  store.rewriteDispatch(taskDir, dispatchId, rewrite);
  expect(store.removeRemains()).toEqual([
    `${path} and its log, because another process reads them: they have old content until the last process closes the store.`,
  ]);
  reader.exec('COMMIT');
  reader.close();
  expect(filesWithIt(path)).not.toEqual([]);
  store.close();
  expect(filesWithIt(path)).toEqual([]);
});

it('keeps a second opening of the database usable, which has a claim', () => {
  const path = temporaryPath();
  const store = recorded(path);
  const other = openStore(path);
  other.createDispatch(taskDir, { ...envelope(), dispatchId: 'D3-OPEN' });
  other.appendEvents(taskDir, 'D3-OPEN', [event('a', 'one')]);
  store.rewriteDispatch(taskDir, dispatchId, rewrite);
  expect(store.removeRemains()).toEqual([]);
  other.appendEvents(taskDir, 'D3-OPEN', [event('b', 'two')]);
  expect(other.getDispatchEvents(taskDir, 'D3-OPEN')).toHaveLength(2);
  expect(codeOf(() => store.appendEvent(taskDir, 'D3-OPEN', event('c', 'three')))).toBe('STORE_LOCKED');
  expect(other.verifyDispatch(taskDir, 'D3-OPEN').damages).toEqual([]);
});

it('creates no database to remove remains', () => {
  const path = temporaryPath();
  expect(openStore(path).removeRemains()).toEqual([]);
  expect(globSync(`${path}*`)).toEqual([]);
});

it('names the damaged rows of accepted losses, which it keeps', () => {
  const path = temporaryPath();
  const store = recorded(path);
  const other = new DatabaseSync(path);
  other.exec("UPDATE events SET line = replace(line, 'agent:text', 'agent:texT') WHERE position = 3");
  other.close();
  store.acceptLoss(taskDir, dispatchId, event('z-loss', 'lost'));
  const named = `The damaged rows of 1 accepted losses, in ${path}: delete their dispatches to remove them.`;
  expect(store.rewriteDispatch(taskDir, dispatchId, rewrite).remains).toContain(named);
  expect(store.removeRemains()).toEqual([named]);
  store.deleteDispatch(taskDir, dispatchId);
  expect(store.removeRemains()).toEqual([]);
  expect(filesWithIt(path)).toEqual([]);
});

it('rows and files that belong to nothing are named, and nothing changes', () => {
  const path = temporaryPath();
  const store = openStore(path);
  store.createDispatch(taskDir, envelope());
  store.appendEvents(taskDir, dispatchId, growingEvents(3));
  expect(store.findRemains()).toEqual([]);
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = { ...currentProcess(), pid, startTime: '1', leaseMs: 10_000, token: 'gone' };
  const database = new DatabaseSync(path);
  database.exec(`
    INSERT INTO events (dispatch, position, batch, crc, line) VALUES (77, 0, 0, 0, '{}'), (77, 1, 0, 0, '{}'), (90, 0, 0, 0, '{}');
    INSERT INTO event_ids (dispatch, id, position) VALUES (78, 'a', 0);
    INSERT INTO event_search (rowid, text) VALUES (79 << 32 | 1, 'word');
    INSERT INTO claims (dispatch, epoch, token) VALUES (80, 1, 'nobody')`);
  database
    .prepare('INSERT INTO openings (token, owner, beat) VALUES (?, ?, 1)')
    .run('gone', JSON.stringify(gone));
  database.close();
  writeFileSync(`${path}.1234.new-wal`, 'a secret');
  const how = (table: string) => `keep a copy, and delete them from ${table} with sqlite3.`;
  expect(store.findRemains()).toEqual([
    `${path}, rows of events under numbers that no dispatch has (77, 90): ${how('events')}`,
    `${path}, rows of event_ids under numbers that no dispatch has (78): ${how('event_ids')}`,
    `${path}, rows of event_search under numbers that no dispatch has (79): ${how('event_search')}`,
    `${path}, rows of claims under numbers that no dispatch has (80): ${how('claims')}`,
    `${path}, the heartbeat gone of a process that has exited: delete its row from openings with sqlite3.`,
    `${path}.1234.new-wal, a database that a process did not finish: delete the file.`,
  ]);
  expect(censusOf(path).every((place) => store.findRemains().some((line) => line.includes(place)))).toBe(
    true,
  );
  expect(censusOf(path)).toHaveLength(6);
  expect(store.findRemains({ taskDir, dispatchId })).toEqual([]);
  expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual(growingEvents(3));
});
