import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { currentProcess, type ProcessOwner } from '@hansard/store-kit';
import { describe, expect, it } from 'vitest';
import { expectedReads, putGolden, readGolden } from './golden/read-golden.ts';
import { envelope, taskDir, textEvent } from './sample-data.ts';
import { codeOf, openStore, temporaryPath } from './temporary-store.ts';

const dispatchId = 'GROWING';

function golden(format: 1 | 2): string {
  const path = temporaryPath();
  putGolden(format, path);
  return path;
}

function formatOf(path: string): unknown {
  const raw = new DatabaseSync(path);
  const { user_version: version } = raw.prepare('PRAGMA user_version').get() ?? {};
  raw.close();
  return version;
}

function isGolden(path: string): void {
  const store = openStore(path);
  for (const [name, read] of readGolden(store)) expect(read(), name).toEqual(expectedReads().get(name));
  store.close();
}

/** Claims a dispatch as a process with format 1 did. */
function claimInFormat1(path: string, changes: Partial<ProcessOwner>): void {
  const raw = new DatabaseSync(path);
  const owner = JSON.stringify({ ...currentProcess(), ...changes });
  raw
    .prepare(
      `INSERT INTO writers (dispatch, token, owner) SELECT number, 'old', ? FROM dispatches WHERE dispatch_id = ?`,
    )
    .run(owner, dispatchId);
  raw.close();
}

describe.each([1, 2] as const)('a database of format %i', (format) => {
  it('opens, and everything in it is equal to what was written', () => {
    const path = golden(format);
    isGolden(path);
    expect(formatOf(path)).toBe(format);
    const store = openStore(path);
    const { integrity, damages, wholeEvents } = store.verifyDispatch(taskDir, dispatchId);
    expect({ integrity, damages, wholeEvents }).toEqual({
      integrity: format === 1 ? 'none' : 'checksum',
      damages: [],
      wholeEvents: 41,
    });
    expect(store.searchEvents('Zürich', { taskDir }).map(({ position }) => position)).toEqual([0, 1, 2, 3]);
  });

  it('takes writes and is format 2 then, with the same content', () => {
    const path = golden(format);
    const store = openStore(path);
    const { epoch = 0 } = store.claimDispatch(taskDir, dispatchId);
    expect(epoch).toBeGreaterThanOrEqual(1);
    expect(formatOf(path)).toBe(2);
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
  });
});

describe('a database of format 1', () => {
  it('is not migrated while a process may be writing to it, which the error names with the remedy', () => {
    const path = golden(1);
    claimInFormat1(path, { host: 'elsewhere', pid: 4711 });
    const store = openStore(path);
    const claim = () => store.claimDispatch(taskDir, 'MIXED');
    expect(codeOf(claim)).toBe('STORE_LOCKED');
    expect(claim).toThrow(/process 4711 on elsewhere .*hansard unlock .* GROWING/);
    expect(store.getClaim(taskDir, dispatchId)).toMatchObject({ isOwn: false, state: 'unknown' });
    expect(formatOf(path)).toBe(1);
    isGolden(path);
    store.breakClaim(taskDir, dispatchId);
    expect(store.getClaim(taskDir, dispatchId)).toBeNull();
    claim();
    expect(formatOf(path)).toBe(2);
  });

  it('is migrated when its last writer has exited without a release', () => {
    const path = golden(1);
    const { pid } = spawnSync(process.execPath, ['--version']);
    claimInFormat1(path, { pid, startTime: '1' });
    const store = openStore(path);
    store.claimDispatch(taskDir, dispatchId);
    expect(formatOf(path)).toBe(2);
    isGolden(path);
  });

  it('is read by a store that opened it before another one migrated it', () => {
    const path = golden(1);
    const reader = openStore(path);
    expect(reader.verifyDispatch(taskDir, dispatchId).integrity).toBe('none');
    const writer = openStore(path);
    writer.claimDispatch(taskDir, dispatchId);
    writer.appendEvent(taskDir, dispatchId, textEvent('f'));
    expect(reader.getRecentEvents(taskDir, dispatchId, 1)).toEqual([textEvent('f')]);
    expect(reader.verifyDispatch(taskDir, dispatchId).integrity).toBe('checksum');
  });

  it('that lost events reads as damaged before and after the migration', () => {
    const path = golden(1);
    const raw = new DatabaseSync(path);
    raw.exec('DELETE FROM events WHERE position = 40 OR position = 7');
    raw.close();
    const store = openStore(path);
    const read = () => store.getDispatchEvents(taskDir, dispatchId);
    expect(codeOf(read)).toBe('STORE_CORRUPT');
    store.claimDispatch(taskDir, 'MIXED');
    expect(codeOf(read)).toBe('STORE_CORRUPT');
    expect(store.verifyDispatch(taskDir, dispatchId).damages.map(({ offset }) => offset)).toEqual([7, 40]);
  });

  it('cannot be written by a process with an older version once it was migrated', () => {
    const path = golden(1);
    openStore(path).claimDispatch(taskDir, 'MIXED');
    const old = new DatabaseSync(path);
    for (const sql of [
      `INSERT INTO dispatches (task_dir, dispatch_id, envelope) VALUES ('t', 'd', '{}') ON CONFLICT DO NOTHING`,
      `INSERT INTO events (dispatch, position, line) VALUES (1, 41, '{}')`,
      `INSERT OR REPLACE INTO writers (dispatch, token, owner) VALUES (1, 'old', '{}')`,
      `SELECT token, owner FROM writers WHERE dispatch = 1`,
      `INSERT OR REPLACE INTO tasks (task_dir, task) VALUES ('t', '{}')`,
      `UPDATE dispatches SET least_events = 0 WHERE number = 1`,
    ])
      expect(() => old.prepare(sql).run(), sql).toThrow(/no such table|no such column|NOT NULL/);
    old.close();
    isGolden(path);
  });
});
