import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { envelope, taskDir, textEvent } from '@hansard/testing/store-samples';
import type { openSqliteStore, SqliteStore } from '../../src/index.ts';

/** Numbers from 0 to below 1; the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const damaged = 'DAMAGED';
const other = 'OTHER';

interface Damage {
  readonly name: string;
  /** Whole events that may be lost beside those that are damaged or missing: those whose neighbours were moved. */
  readonly atMost: number;
  /** The number of events of the dispatch, where it matters. */
  readonly count?: number;
  apply(database: DatabaseSync, position: number, random: () => number): void;
}

const row = 'dispatch = (SELECT number FROM dispatches WHERE dispatch_id = ?)';

function change(set: string): Damage['apply'] {
  return (database, position) =>
    void database.prepare(`UPDATE events SET ${set} WHERE ${row} AND position = ?`).run(damaged, position);
}

/** Moves all rows from a position on by one, from the last one. */
function makeRoom(database: DatabaseSync, position: number): void {
  const far = 1_000_000;
  const move = `UPDATE events SET position = position + ? WHERE ${row} AND position >= ?`;
  database.prepare(move).run(far, damaged, position);
  database.prepare(move).run(1 - far, damaged, far);
}

function removeRow(database: DatabaseSync, position: number): void {
  database.prepare(`DELETE FROM events WHERE ${row} AND position = ?`).run(damaged, position);
}

function replaceByOther(database: DatabaseSync, position: number): void {
  removeRow(database, position);
  database
    .prepare(
      `INSERT INTO events SELECT (SELECT number FROM dispatches WHERE dispatch_id = ?), ?, batch, crc, line
       FROM events WHERE ${row} AND position = ?`,
    )
    .run(damaged, position, other, position);
}

/** What a hand or a bug can do to the rows of a dispatch. Each one must show, wherever it is done. */
export const damages: readonly Damage[] = [
  { name: 'a changed letter', atMost: 1, apply: change(`line = replace(line, 'text of', 'test of')`) },
  { name: 'a line of another event', atMost: 1, apply: change(`line = '{"id":"x","type":"x","data":{}}'`) },
  { name: 'another checksum', atMost: 2, apply: change('crc = crc + 1') },
  { name: 'another batch mark', atMost: 1, apply: change('batch = batch + 1') },
  { name: 'a changed number of the dispatch', atMost: 1, apply: change('dispatch = dispatch + 1000') },
  { name: 'a removed row', atMost: 1, apply: removeRow },
  {
    name: 'a removed row, with the later ones moved up',
    atMost: 2,
    apply(database, position) {
      removeRow(database, position);
      const move = `UPDATE events SET position = position + ? WHERE ${row} AND position > ?`;
      database.prepare(move).run(1_000_000, damaged, position);
      database.prepare(move).run(-1_000_001, damaged, position);
    },
  },
  {
    name: 'a doubled row',
    atMost: 1,
    apply(database, position) {
      makeRoom(database, position);
      database
        .prepare(
          `INSERT INTO events SELECT dispatch, position - 1, batch, crc, line FROM events WHERE ${row} AND position = ?`,
        )
        .run(damaged, position + 1);
    },
  },
  {
    name: 'two swapped rows',
    atMost: 4,
    apply(database, position) {
      const move = `UPDATE events SET position = ? WHERE ${row} AND position = ?`;
      const next = position === 0 ? 1 : position - 1;
      for (const [to, from] of [
        [1_000_000, position],
        [position, next],
        [next, 1_000_000],
      ] as const)
        database.prepare(move).run(to, damaged, from);
    },
  },
  { name: 'a row of another dispatch in its place', atMost: 2, apply: replaceByOther },
  { name: 'its only row replaced by one of another dispatch', atMost: 1, count: 1, apply: replaceByOther },
  {
    name: 'a cut end, between two batches',
    atMost: Number.POSITIVE_INFINITY,
    apply: (database) =>
      void database
        .prepare(
          `DELETE FROM events WHERE ${row} AND position > coalesce((SELECT max(position) FROM events AS whole
             WHERE whole.dispatch = events.dispatch AND batch = 0
               AND position < (SELECT max(position) FROM events AS last WHERE last.dispatch = events.dispatch)), -1)`,
        )
        .run(damaged),
  },
  {
    name: 'a cut end',
    atMost: Number.POSITIVE_INFINITY,
    apply: (database, position) =>
      void database.prepare(`DELETE FROM events WHERE ${row} AND position >= ?`).run(damaged, position),
  },
];

/** Events with growing ids, appended in batches of random sizes. */
function writeEvents(
  store: SqliteStore,
  dispatchId: string,
  count: number,
  random: () => number,
): CapturedEvent[] {
  const events = Array.from({ length: count }, (_, index) =>
    textEvent(
      `${dispatchId}${String(index).padStart(4, '0')}`,
      `text of ${index}: ${'é'.repeat(random() * 40)}`,
    ),
  );
  store.createDispatch(taskDir, envelope({ dispatchId }));
  for (let first = 0; first < count; ) {
    const size = random() < 0.5 ? 1 : 1 + Math.floor(random() * 7);
    if (size === 1) store.appendEvent(taskDir, dispatchId, events[first] as CapturedEvent);
    else store.appendEvents(taskDir, dispatchId, events.slice(first, first + size));
    first += size;
  }
  store.releaseDispatch(taskDir, dispatchId);
  return events;
}

/** The number of events of a dispatch, and the position of the damaged one. */
export interface Place {
  readonly count: number;
  readonly position: number;
}

/**
 * Damages a new database, and checks that nothing of it is silent. Throws an AssertionError otherwise. Without a place, the damage is at
 * a random one.
 */
export function checkDamage(
  open: typeof openSqliteStore,
  path: string,
  damage: Damage,
  seed: number,
  place?: Place,
): void {
  const random = randomFrom(seed);
  const store = open({ path });
  try {
    const count = damage.count ?? place?.count ?? 2 + Math.floor(random() * 30);
    const events = writeEvents(store, damaged, count, random);
    const others = writeEvents(store, other, count, random);
    const raw = new DatabaseSync(path);
    damage.apply(raw, Math.min(place?.position ?? Math.floor(random() * count), count - 1), random);
    raw.close();
    checkReads(store, events, damage);
    assert.deepEqual(store.getDispatchEvents(taskDir, other), others);
    checkAcceptedLoss(store, events);
  } finally {
    store.close();
  }
}

function checkReads(store: SqliteStore, events: readonly CapturedEvent[], { atMost }: Damage): void {
  const error = errorOf(() => store.getDispatchEvents(taskDir, damaged));
  assert.equal(error.code, 'STORE_CORRUPT');
  const { integrity, damages: found, wholeEvents } = store.verifyDispatch(taskDir, damaged);
  assert.equal(integrity, 'checksum');
  const [first] = found;
  assert.ok(first !== undefined, 'verifyDispatch found no damage');
  assert.equal(error.details.offset, first.offset);
  assert.equal(error.details.wholeEvents, first.eventsBefore);
  const whole = store.readEvents(taskDir, damaged, { skipDamaged: true }).events;
  assert.equal(whole.length, wholeEvents);
  assertPartOf(whole, events);
  assert.deepEqual(whole.slice(0, first.eventsBefore), events.slice(0, first.eventsBefore));
  assert.ok(events.length - whole.length <= atMost, `${whole.length} of ${events.length} events are whole`);
  const claimed = errorOf(() => {
    store.claimDispatch(taskDir, damaged);
    store.appendEvent(taskDir, damaged, textEvent('z'));
  });
  // An append needs only the last event. If that one is whole, it may follow.
  assert.ok(claimed.code === 'STORE_CORRUPT' || claimed.code === 'none');
  store.releaseDispatch(taskDir, damaged);
}

function checkAcceptedLoss(store: SqliteStore, events: readonly CapturedEvent[]): void {
  const before = store.readEvents(taskDir, damaged, { skipDamaged: true }).events;
  const notice: CapturedEvent = { ...textEvent('zz'), type: 'system:notice' };
  const found = store.acceptLoss(taskDir, damaged, notice);
  assert.ok(found.damages.length > 0);
  assert.deepEqual(store.getDispatchEvents(taskDir, damaged), [...before, notice]);
  assertPartOf(
    before.filter(({ id }) => id !== 'z'),
    events,
  );
  assert.deepEqual(store.verifyDispatch(taskDir, damaged).damages, []);
  assert.deepEqual(store.acceptLoss(taskDir, damaged, notice).damages, []);
  store.claimDispatch(taskDir, damaged);
  store.appendEvent(taskDir, damaged, textEvent('zzz'));
  assert.deepEqual(store.getRecentEvents(taskDir, damaged, 2), [notice, textEvent('zzz')]);
}

/** The events are some of the others, in their order. */
function assertPartOf(events: readonly CapturedEvent[], others: readonly CapturedEvent[]): void {
  let index = 0;
  for (const event of events) {
    const found = others.findIndex(({ id }, position) => position >= index && id === event.id);
    assert.ok(found >= 0, `the event ${event.id} was not written, or is out of order`);
    assert.deepEqual(event, others[found]);
    index = found + 1;
  }
}

interface Outcome {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function errorOf(work: () => unknown): Outcome {
  try {
    work();
  } catch (error) {
    if (storeErrors.is(error)) return error;
    throw error;
  }
  return { code: 'none', details: {} };
}
