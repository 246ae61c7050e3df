import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type StoreError, storeErrors } from '@hansard/provider';
import { dispatchId, envelope, growingEvents, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../src/index.ts';
import { toStoreError } from '../src/sqlite-errors.ts';
import { codeOf, openClaimed, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const stored = growingEvents(600);

function closedDatabase(): string {
  const path = temporaryPath();
  const store = storeWithDispatch(path);
  store.appendEvents(taskDir, dispatchId, stored);
  store.close();
  return path;
}

/** The result of a reader: all events, or an error of the contract that names the file. */
function readAll(path: string): { readonly length: number } | StoreError {
  try {
    const store = openSqliteStore({ path });
    try {
      return store.getDispatchEvents(taskDir, dispatchId);
    } finally {
      store.close();
    }
  } catch (error) {
    if (!storeErrors.is(error)) throw error;
    return error;
  }
}

describe('a damaged database', () => {
  it('is STORE_CORRUPT with its file if a page is overwritten', () => {
    const path = closedDatabase();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, Math.floor(statSync(path).size / 8192) * 4096);
    closeSync(file);
    expect(readAll(path)).toMatchObject({ code: 'STORE_CORRUPT', details: { file: path } });
  });

  it('is never a shorter log, wherever 64 bytes of it are overwritten', () => {
    const path = closedDatabase();
    const whole = readFileSync(path);
    for (let offset = 0; offset + 64 < whole.length; offset += 1747) {
      const damaged = Buffer.from(whole);
      for (let index = 0; index < 64; index += 1) damaged[offset + index] = (offset + index * 131) % 251;
      writeFileSync(path, damaged);
      const answer = readAll(path);
      if (!storeErrors.is(answer)) expect(answer.length, `damaged at ${offset}`).toBe(stored.length);
    }
  });

  it('is STORE_CORRUPT if an event nests deeper than any reader can follow', () => {
    const path = closedDatabase();
    const database = new DatabaseSync(path);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    database
      .prepare(`UPDATE events SET line = replace(line, '"data":{', ? ) WHERE position = 5`)
      .run(`"data":{"deep":${deep},`);
    database.close();
    expect(readAll(path)).toMatchObject({ code: 'STORE_CORRUPT', details: { offset: 5 } });
  });

  it.each([0.2, 0.5, 0.9])('is STORE_CORRUPT when it is cut off at %d of its length', (part) => {
    const path = closedDatabase();
    truncateSync(path, Math.floor(statSync(path).size * part));
    expect(readAll(path)).toMatchObject({ code: 'STORE_CORRUPT', details: { file: path } });
  });

  it('is STORE_CORRUPT when it is not a database at all', () => {
    const path = temporaryPath();
    writeFileSync(path, 'plain text, and enough of it to be no empty file. '.repeat(100));
    expect(codeOf(() => openSqliteStore({ path }))).toBe('STORE_CORRUPT');
  });

  it.each([
    ['a line that is not JSON', `UPDATE events SET line = '{"id":' WHERE position = 300`],
    ['a line that is missing', 'DELETE FROM events WHERE position = 300'],
  ])('is STORE_CORRUPT with the position of %s', (_, sql) => {
    const path = closedDatabase();
    const raw = new DatabaseSync(path);
    raw.exec(sql);
    raw.close();
    const store = openStore(path);
    const details = { file: path, dispatchId, offset: 300, wholeEvents: 300 };
    const reads = [
      () => store.getDispatchEvents(taskDir, dispatchId),
      () => store.readEvents(taskDir, dispatchId, { after: 290, limit: 50 }),
      () => store.getRecentEvents(taskDir, dispatchId, 310),
    ];
    for (const read of reads)
      expect(read).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT', details }));
  });

  it('lists a task whose record is not JSON with the reason, and every other task', () => {
    const path = closedDatabase();
    const task = {
      slug: 'a',
      name: 'A',
      project: 'lab',
      status: 'open',
      created: '2026-03-01T09:30:00.000Z',
    };
    const store = openStore(path);
    store.putTask('lab/tasks/a', task);
    store.putTask('lab/tasks/b', task);
    const raw = new DatabaseSync(path);
    raw.exec(`UPDATE tasks SET task = '{' WHERE task_dir = 'lab/tasks/a'`);
    raw.close();
    const listed = store.listTasks().filter((listing) => listing.taskDir !== taskDir);
    expect(listed).toMatchObject([
      { taskDir: 'lab/tasks/a', task: null, error: { code: 'STORE_CORRUPT', details: { file: path } } },
      { taskDir: 'lab/tasks/b', task },
    ]);
    expect(codeOf(() => store.findTask('lab/tasks/a'))).toBe('STORE_CORRUPT');
  });
});

describe('a database that cannot be used', () => {
  it('is STORE_UNAVAILABLE when a newer version wrote it, and says what to do', () => {
    const path = closedDatabase();
    const raw = new DatabaseSync(path);
    raw.exec('PRAGMA user_version = 99');
    raw.close();
    expect(() => openSqliteStore({ path })).toThrow(/newer .* \(format 99; .*Update the package/);
  });

  it('is STORE_UNAVAILABLE when it belongs to another program, and is not changed', () => {
    const path = temporaryPath();
    const raw = new DatabaseSync(path);
    raw.exec('CREATE TABLE recipes (name TEXT)');
    expect(codeOf(() => openSqliteStore({ path }))).toBe('STORE_UNAVAILABLE');
    expect(raw.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'recipes' }]);
    raw.close();
  });

  it('is STORE_CORRUPT when its path is a folder, and STORE_UNAVAILABLE when it is below a file', () => {
    const path = temporaryPath();
    mkdirSync(path);
    expect(codeOf(() => openSqliteStore({ path }))).toBe('STORE_CORRUPT');
    writeFileSync(join(path, 'file'), '');
    const below = join(path, 'file', 'hansard.sqlite');
    expect(codeOf(() => openSqliteStore({ path: below }))).toBe('STORE_UNAVAILABLE');
  });

  it('is STORE_UNAVAILABLE while another process writes for too long, and loses nothing', () => {
    const path = closedDatabase();
    const store = openClaimed(path, { busyTimeout: 1 });
    store.appendEvent(taskDir, dispatchId, textEvent('f'));
    const raw = new DatabaseSync(path);
    raw.exec('BEGIN IMMEDIATE');
    const append = () => store.appendEvent(taskDir, dispatchId, textEvent('g'));
    expect(append).toThrow(/busy: .*Try again/);
    expect(append).toThrow(expect.objectContaining({ isTransient: true }));
    expect(codeOf(() => store.createDispatch(taskDir, envelope({ dispatchId: 'x' })))).toBe(
      'STORE_UNAVAILABLE',
    );
    raw.exec('ROLLBACK');
    raw.close();
    append();
    expect(store.getRecentEvents(taskDir, dispatchId, 2)).toEqual([textEvent('f'), textEvent('g')]);
  });

  it.each([
    [13, 'STORE_UNAVAILABLE', 'no free space', false],
    [8, 'STORE_UNAVAILABLE', 'may not be written', false],
    [10 | (3 << 8), 'STORE_UNAVAILABLE', 'could not be read or written', false],
    [11 | (1 << 8), 'STORE_CORRUPT', 'is damaged', false],
    [14, 'STORE_UNAVAILABLE', 'could not be opened', false],
    [1, 'STORE_UNAVAILABLE', 'refused a statement', false],
    [5, 'STORE_UNAVAILABLE', 'is busy', true],
    [5 | (1 << 8), 'STORE_UNAVAILABLE', 'is busy', true],
    [5 | (2 << 8), 'STORE_UNAVAILABLE', 'is busy', true],
    [6 | (1 << 8), 'STORE_UNAVAILABLE', 'is locked', true],
    [7, 'STORE_UNAVAILABLE', 'no memory', true],
    [15, 'STORE_UNAVAILABLE', 'is busy', true],
  ])('maps result %i of SQLite to %s (%s), to be repeated: %s', (errcode, code, words, isTransient) => {
    const cause = Object.assign(new Error('what SQLite says'), { code: 'ERR_SQLITE_ERROR', errcode });
    const error = toStoreError(cause, '/data/hansard.sqlite') as StoreError;
    expect(error).toMatchObject({ code, cause, isTransient, details: { file: '/data/hansard.sqlite' } });
    expect(error.message).toContain(words);
    expect(error.message).toContain('what SQLite says');
  });
});
