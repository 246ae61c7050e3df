import { spawnSync } from 'node:child_process';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type StoreError, storeErrors } from '@hansard/provider';
import { currentProcess, defaultLeaseMs, encodeLease, type ProcessOwner } from '@hansard/store-kit';
import { dispatchId, envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StoreSystem } from '../src/database/open-database.ts';
import { openStoreOn } from '../src/sqlite-store.ts';
import { ManualClock } from './manual-clock.ts';
import { codeOf, openStore, storeWithDispatch, temporaryPath } from './temporary-store.ts';

const leaseMs = 9_000;

function rowsOf(path: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare(sql).all();
  database.close();
  return rows;
}

/** Runs SQL on the database while stores have it open. */
function runSql(path: string, sql: string, ...values: string[]): void {
  const database = new DatabaseSync(path);
  database.prepare(sql).run(...values);
  database.close();
}

/** A store whose dispatch belongs to another store, of an exited process like this one with some changes. */
function ownedBy(path: string, changes: Partial<ProcessOwner>, clock = new ManualClock()) {
  storeWithDispatch(path).close();
  const store = openStoreOn({ path, leaseMs }, { clock });
  onTestFinished(() => store.close());
  const { pid } = spawnSync(process.execPath, ['--version']);
  const owner = { ...currentProcess(), pid, startTime: '1', ...changes };
  const lease = encodeLease({ token: 'other', owner, leaseMs });
  runSql(path, 'INSERT INTO openings (token, owner, beat) VALUES (?, ?, 7)', 'other', lease);
  runSql(path, `INSERT INTO claims (dispatch, epoch, token) SELECT number, 5, 'other' FROM dispatches`);
  return store;
}

function errorOf(work: () => unknown): StoreError {
  try {
    work();
  } catch (error) {
    if (storeErrors.is(error)) return error;
    throw error;
  }
  throw new Error('It reported nothing.');
}

const unchecked: readonly (readonly [string, Partial<ProcessOwner>])[] = [
  ['another host', { host: 'elsewhere' }],
  ['another boot of the machine', { bootId: 'another' }],
  ['another PID namespace', { pidNamespace: 'pid:[1]' }],
];

describe('the lease of a dispatch', () => {
  it.each(unchecked)(
    'of %s, whose processes cannot be checked here, is taken over once its heartbeat stood still for a whole lease',
    (reason, of) => {
      const clock = new ManualClock();
      const store = ownedBy(temporaryPath(), of, clock);
      const claim = () => store.claimDispatch(taskDir, dispatchId);
      const error = errorOf(claim);
      expect(error.code).toBe('STORE_LOCKED');
      expect(error.message).toContain(`(${reason}`);
      expect(error.message).toContain(`hansard store unlock ${taskDir}/${dispatchId}`);
      expect(error.details).toMatchObject({ expiresInMs: leaseMs, dispatchId, taskDir });
      clock.advance(leaseMs - 1);
      expect(errorOf(claim).details).toMatchObject({ expiresInMs: 1 });
      clock.advance(1);
      expect(claim()).toMatchObject({ epoch: 6 });
      store.appendEvent(taskDir, dispatchId, textEvent('a'));
      expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a')]);
    },
  );

  it('is not taken over while its heartbeat changes, however late this opening looks', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    const store = ownedBy(path, { host: 'elsewhere' }, clock);
    const state = () => store.findClaim(taskDir, dispatchId);
    expect(state()).toMatchObject({ isOwn: false, state: 'unknown', expiresInMs: leaseMs });
    for (let round = 0; round < 5; round += 1) {
      runSql(path, 'UPDATE openings SET beat = beat + 1');
      clock.advance(3 * leaseMs);
      expect(codeOf(() => store.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
      expect(state()).toMatchObject({ state: 'running', expiresInMs: null });
    }
    clock.advance(leaseMs);
    expect(state()).toMatchObject({ state: 'expired', expiresInMs: null });
  });

  it('does not expire when the wall clock jumps', () => {
    const clock = new ManualClock();
    const store = ownedBy(temporaryPath(), { host: 'elsewhere' }, clock);
    expect(codeOf(() => store.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
    clock.wall += 1e12;
    expect(codeOf(() => store.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
  });

  it('whose owner cannot be read is held until it stood still for a whole lease', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    const store = ownedBy(path, {}, clock);
    runSql(path, `UPDATE openings SET owner = '{"format":9}'`);
    expect(errorOf(() => store.claimDispatch(taskDir, dispatchId)).message).toContain('an unknown host');
    clock.advance(defaultLeaseMs);
    expect(store.claimDispatch(taskDir, dispatchId).epoch).toBe(6);
  });

  it('is renewed three times in a lease, only while something is claimed, by a timer that keeps no process running', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    const store = openStoreOn({ path, leaseMs }, { clock });
    onTestFinished(() => store.close());
    store.createDispatch(taskDir, envelope());
    store.createDispatch(taskDir, envelope({ dispatchId: 'another' }));
    const beats = () => rowsOf(path, 'SELECT beat FROM openings').map(({ beat }) => Number(beat));
    const seen = new Set(beats());
    const passThird = () => {
      clock.advance(leaseMs / 3);
      for (const beat of beats()) seen.add(beat);
    };
    for (let third = 0; third < 6; third += 1) passThird();
    expect(seen.size).toBe(7);
    store.releaseDispatch(taskDir, dispatchId);
    passThird();
    expect(seen.size).toBe(8);
    store.releaseDispatch(taskDir, 'another');
    clock.advance(leaseMs / 3);
    expect(beats()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('is fenced: an opening whose dispatch was taken over gets STORE_LOCKED for every write until it claims again', () => {
    const path = temporaryPath();
    const stopped = new ManualClock();
    const first = openStoreOn({ path, leaseMs }, { clock: stopped });
    onTestFinished(() => first.close());
    first.createDispatch(taskDir, envelope());
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    const clock = new ManualClock();
    const second = openStoreOn({ path, leaseMs }, { clock });
    onTestFinished(() => second.close());
    expect(codeOf(() => second.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
    clock.advance(leaseMs);
    expect(second.claimDispatch(taskDir, dispatchId).epoch).toBe(2);
    // Nothing was appended since, so only the claim can refuse it.
    for (const write of [
      () => first.appendEvent(taskDir, dispatchId, textEvent('b')),
      () => first.appendEvents(taskDir, dispatchId, [textEvent('b')]),
      () => first.appendEvents(taskDir, dispatchId, [textEvent('a')]),
      () => first.appendEvents(taskDir, dispatchId, []),
      () => first.updateDispatch(taskDir, dispatchId, { cost: 1 }),
      () => first.deleteDispatch(taskDir, dispatchId),
    ])
      expect(codeOf(write)).toBe('STORE_LOCKED');
    first.releaseDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('c'));
    second.releaseDispatch(taskDir, dispatchId);
    expect(codeOf(() => first.appendEvent(taskDir, dispatchId, textEvent('d')))).toBe('STORE_LOCKED');
    expect(first.claimDispatch(taskDir, dispatchId).epoch).toBe(3);
    first.appendEvent(taskDir, dispatchId, textEvent('d'));
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual(['a', 'c', 'd'].map((id) => textEvent(id)));
  });

  it('that was broken belongs to nobody, and its former owner writes nothing until it claims again', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    const second = openStore(path);
    second.breakClaim(taskDir, dispatchId);
    expect(second.findClaim(taskDir, dispatchId)).toBeNull();
    expect(codeOf(() => first.appendEvent(taskDir, dispatchId, textEvent('b')))).toBe('STORE_LOCKED');
    expect(first.claimDispatch(taskDir, dispatchId).epoch).toBe(2);
    first.appendEvent(taskDir, dispatchId, textEvent('b'));
    expect(second.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a'), textEvent('b')]);
  });

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
});

describe('a dispatch that changed hands', () => {
  it('is written by its first owner again as soon as that has claimed it again', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    const second = openStore(path);
    second.breakClaim(taskDir, dispatchId);
    second.claimDispatch(taskDir, dispatchId);
    second.appendEvent(taskDir, dispatchId, textEvent('b'));
    second.releaseDispatch(taskDir, dispatchId);
    first.claimDispatch(taskDir, dispatchId);
    first.appendEvent(taskDir, dispatchId, textEvent('c'));
    expect(first.getDispatchEvents(taskDir, dispatchId)).toEqual(['a', 'b', 'c'].map((id) => textEvent(id)));
  });

  it('is written by its first owner again after another one deleted it and it was created again', () => {
    const path = temporaryPath();
    const first = storeWithDispatch(path);
    first.appendEvent(taskDir, dispatchId, textEvent('a'));
    const second = openStore(path);
    second.breakClaim(taskDir, dispatchId);
    second.deleteDispatch(taskDir, dispatchId);
    first.createDispatch(taskDir, envelope());
    first.appendEvent(taskDir, dispatchId, textEvent('b'));
    expect(first.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('b')]);
  });

  it('is not taken at once from an owner whose heartbeat ended with its last claim, while the database was locked', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    storeWithDispatch(path).close();
    const open = () => {
      const store = openStoreOn({ path, leaseMs, busyTimeout: 0 }, { clock });
      onTestFinished(() => store.close());
      return store;
    };
    const [owner, taker] = [open(), open()];
    owner.claimDispatch(taskDir, dispatchId);
    expect(codeOf(() => taker.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
    owner.releaseDispatch(taskDir, dispatchId);
    const writer = new DatabaseSync(path);
    writer.exec('BEGIN IMMEDIATE');
    clock.advance(leaseMs);
    writer.close();
    owner.claimDispatch(taskDir, dispatchId);
    expect(codeOf(() => taker.claimDispatch(taskDir, dispatchId))).toBe('STORE_LOCKED');
  });

  it('is whole after a batch of which the disk refused a later event', () => {
    const clock = new ManualClock();
    const path = temporaryPath();
    storeWithDispatch(path).close();
    const openDatabase: StoreSystem['openDatabase'] = (location, options) => {
      const database = new DatabaseSync(location, options);
      const prepare = database.prepare.bind(database);
      database.prepare = (sql) => {
        const statement = prepare(sql);
        const run = statement.run.bind(statement);
        statement.run = ((...values: SQLInputValue[]) => {
          if (!values.some((value) => String(value).includes('"refused"'))) return run(...values);
          throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
        }) as typeof run;
        return statement;
      };
      return database;
    };
    const store = openStoreOn({ path }, { clock, openDatabase });
    onTestFinished(() => store.close());
    store.claimDispatch(taskDir, dispatchId);
    for (const id of ['a', 'b']) store.appendEvent(taskDir, dispatchId, textEvent(id));
    const batch = ['c', 'd', 'refused'].map((id) => textEvent(id));
    expect(codeOf(() => store.appendEvents(taskDir, dispatchId, batch))).toBe('STORE_UNAVAILABLE');
    clock.advance(2_000);
    expect(store.getDispatchEvents(taskDir, dispatchId)).toEqual([textEvent('a'), textEvent('b')]);
  });

  it('is not found, and not reported as lost, when it is deleted before its length is written', () => {
    const path = temporaryPath();
    const clock = new ManualClock();
    const [store, other] = [openStoreOn({ path }, { clock }), openStoreOn({ path }, { clock })];
    for (const one of [store, other]) onTestFinished(() => one.close());
    store.createDispatch(taskDir, envelope());
    store.appendEvent(taskDir, dispatchId, textEvent('a'));
    other.breakClaim(taskDir, dispatchId);
    other.deleteDispatch(taskDir, dispatchId);
    clock.advance(2_000);
    expect(codeOf(() => other.getDispatchEvents(taskDir, dispatchId))).toBe('STORE_DISPATCH_NOT_FOUND');
    expect(other.listDispatches({ taskDir }).dispatches).toEqual([]);
  });
});
