import { DatabaseSync } from 'node:sqlite';
import { encodeEvent } from '@hansard/events';
import { envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import { goldenDispatches, goldenTasks } from './golden/golden-content.ts';
import { expectedReads, putGolden, readGolden } from './golden/read-golden.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';
import { tablesOf0, upgradeFrom0 } from './upgrade-step.ts';

const dispatchId = 'GROWING';

function openRaw(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  return database;
}

function setFormat(path: string, version: number): void {
  const raw = openRaw(path);
  raw.exec(`PRAGMA user_version = ${version}`);
  raw.close();
}

function formatOf(path: string): unknown {
  const raw = openRaw(path);
  const { user_version: version } = raw.prepare('PRAGMA user_version').get() ?? {};
  raw.close();
  return version;
}

function isGolden(path: string): void {
  const store = openStore(path);
  for (const [name, read] of readGolden(store)) expect(read(), name).toEqual(expectedReads().get(name));
  store.close();
}

describe('a database of format 1', () => {
  it('opens, and everything in it is equal to what was written', () => {
    const path = temporaryPath();
    putGolden(path);
    isGolden(path);
    expect(formatOf(path)).toBe(1);
    const store = openStore(path);
    const { integrity, damages, wholeEvents } = store.verifyDispatch(taskDir, dispatchId);
    expect({ integrity, damages, wholeEvents }).toEqual({
      integrity: 'checksum',
      damages: [],
      wholeEvents: 41,
    });
    expect(store.searchEvents('Zürich', { taskDir }).map(({ position }) => position)).toEqual([0, 1, 2, 3]);
  });

  it('takes writes, with the same content', () => {
    const path = temporaryPath();
    putGolden(path);
    canBeWritten(path);
  });
});

function canBeWritten(path: string): void {
  const store = openStore(path);
  const { epoch = 0 } = store.claimDispatch(taskDir, dispatchId);
  expect(epoch).toBeGreaterThanOrEqual(1);
  expect(formatOf(path)).toBe(1);
  isGolden(path);
  for (const id of ['GROWING', 'MIXED']) {
    expect(store.verifyDispatch(taskDir, id)).toMatchObject({ integrity: 'checksum', damages: [] });
    store.claimDispatch(taskDir, id);
    store.appendEvent(taskDir, id, textEvent('b'));
    expect(store.getRecentEvents(taskDir, id, 1)).toEqual([textEvent('b')]);
  }
  store.createDispatch('another/task', envelope({ dispatchId: 'NEW' }));
  expect(store.getDispatchEnvelopes('another/task')).toHaveLength(2);
  expect(store.searchEvents('text', { taskDir, limit: 100 })).toHaveLength(43);
}

describe('a database of another format', () => {
  it('is refused with the number of a newer format, and is not changed', () => {
    const path = temporaryPath();
    putGolden(path);
    setFormat(path, 2);
    expect(codeOf(() => openStore(path))).toBe('STORE_UNAVAILABLE');
    expect(() => openStore(path)).toThrow(
      /newer @hansard\/store-sqlite \(format 2; this version supports 1\)/,
    );
    expect(formatOf(path)).toBe(2);
  });

  it('is damaged if its format is not one that a version has', () => {
    const path = temporaryPath();
    putGolden(path);
    setFormat(path, 0);
    expect(codeOf(() => openStore(path))).toBe('STORE_CORRUPT');
  });
});

describe('a step from an earlier format', () => {
  /** The golden content in the made-up format 0. */
  function golden0(): string {
    const path = temporaryPath();
    const raw = openRaw(path);
    raw.exec(`PRAGMA application_id = ${0x484e5344};${tablesOf0}`);
    const put = (sql: string, ...values: (string | number)[]) => raw.prepare(sql).run(...values);
    for (const [dir, task] of goldenTasks) put('INSERT INTO tasks VALUES (?, ?)', dir, JSON.stringify(task));
    for (const [at, { taskDir: dir, envelope: content, batches }] of goldenDispatches.entries()) {
      const { dispatchId: id } = content;
      put('INSERT INTO dispatches VALUES (?, ?, ?, ?)', at + 1, dir, id, JSON.stringify(content));
      for (const [position, event] of batches.flat().entries())
        put('INSERT INTO events VALUES (?, ?, ?)', at + 1, position, encodeEvent(event));
    }
    raw.close();
    return path;
  }

  it('keeps tasks, envelopes and events, with checksums, and the database can be written', () => {
    const path = golden0();
    expect(codeOf(() => openStore(path))).toBe('STORE_CORRUPT');
    expect(upgradeFrom0(openRaw(path))).toBe(true);
    isGolden(path);
    canBeWritten(path);
  });

  it('is taken once, however many processes try', () => {
    const path = golden0();
    expect([openRaw(path), openRaw(path)].map(upgradeFrom0)).toEqual([true, false]);
    isGolden(path);
  });

  it('changes nothing while a process may be writing, and nothing if it is stopped', () => {
    const path = golden0();
    const raw = openRaw(path);
    raw.exec(`INSERT INTO writers VALUES (1, 'a process')`);
    expect(() => upgradeFrom0(raw)).toThrow('It has a writer.');
    raw.exec(`DELETE FROM writers; UPDATE dispatches SET envelope = '{' WHERE number = 3`);
    const before = raw.prepare('SELECT name FROM sqlite_schema ORDER BY name').all();
    expect(() => upgradeFrom0(raw)).toThrow(SyntaxError);
    expect(raw.prepare('SELECT name FROM sqlite_schema ORDER BY name').all()).toEqual(before);
    expect(formatOf(path)).toBe(0);
  });
});
