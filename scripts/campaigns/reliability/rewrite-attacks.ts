import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CapturedEvent } from '@hansard/events';
import {
  type Awaitable,
  type Clock,
  type DispatchStoreProvider,
  storeErrors,
} from '../../../packages/provider/src/index.ts';
import { sampleEnvelope, sampleEvent } from '../../../packages/store-conformance/src/checks/sample-data.ts';
import { createRandom } from '../../../packages/store-conformance/src/model/random.ts';
import { openJsonFileStore } from '../../../plugins/store-jsonfile/src/index.ts';
import { thisSystem } from '../../../plugins/store-jsonfile/src/store-system.ts';
import { censusOf as censusOfFiles } from '../../../plugins/store-jsonfile/test/census.ts';
import { openPostgresStore } from '../../../plugins/store-postgres/src/open-postgres-store.ts';
import { censusOf as censusOfSchema } from '../../../plugins/store-postgres/test/census.ts';
import { newSchema } from '../../../plugins/store-postgres/test/server/new-schema.ts';
import { openStoreOn } from '../../../plugins/store-sqlite/src/sqlite-store.ts';
import { censusOf as censusOfDatabase } from '../../../plugins/store-sqlite/test/census.ts';
import type { Attack, StoreName } from './attack.ts';
import { serverOfAttacks } from './server-attacks.ts';

const leaseMs = 1_500;
const taskDir = 'lab/tasks/rewrites';
const openings = 3;

type Store = DispatchStoreProvider &
  Required<Pick<DispatchStoreProvider, 'rewriteDispatch' | 'verifyDispatch'>>;

/** `pass` lets time pass for every opening, as a call that blocks its process does. */
type Open = (place: string, clock: Clock, pass: (ms: number) => void) => Awaitable<Store>;

const stores: Readonly<Record<StoreName, Open>> = {
  jsonfile: (root, clock, pause) => openJsonFileStore({ root, leaseMs }, { ...thisSystem, clock, pause }),
  // A call that meets the lock of another one in this process would only wait.
  sqlite: (root, clock) =>
    openStoreOn({ path: join(root, 'hansard.sqlite'), leaseMs, busyTimeout: 1 }, { clock }),
  postgres: async (schema, clock) => {
    const url = (await serverOfAttacks()).url();
    return openPostgresStore({ url, schema, leaseMs, connections: 2, durability: 'process' }, { clock });
  },
};

/** The clock of one process. Time passes for a stopped process, too, but none of its timers fires. */
class ProcessClock implements Clock {
  #time = 0;
  readonly #timers = new Set<{ readonly at: number; readonly action: () => void }>();

  now(): number {
    return 1_700_000_000_000 + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#time + ms, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number, isStopped: boolean): void {
    this.#time += ms;
    for (const timer of isStopped ? [] : [...this.#timers]) {
      if (timer.at > this.#time) continue;
      this.#timers.delete(timer);
      timer.action();
    }
  }
}

/** What belongs to nothing, found without the code of the store. */
const census: Readonly<Record<StoreName, (place: string) => Awaitable<readonly string[]>>> = {
  jsonfile: censusOfFiles,
  sqlite: (root) => censusOfDatabase(join(root, 'hansard.sqlite')),
  postgres: async (schema) => censusOfSchema((await serverOfAttacks()).url(), schema),
};

interface Opening {
  readonly store: Store;
  readonly clock: ProcessClock;
  isStopped: boolean;
}

/** What the store must hold: this shares nothing with it. */
interface Log {
  readonly dispatchId: string;
  readonly events: CapturedEvent[];
  title: string | null;
  /** The opening with the claim. */
  owner: Opening | null;
}

/**
 * Random schedules of three openings of one store, each with a clock of its own: appends, changes of the title, claims, releases and rewrites by any
 * of them, also inside the rewrite of another one, while owners are stopped past their lease and continue. After each rewrite no
 * old text may come back, and the log is exactly what was acknowledged.
 */
export function rewrites(name: StoreName, change: (store: Store) => Store = (store) => store): Attack {
  const open: Open = async (place, clock, pass) => change(await stores[name](place, clock, pass));
  return {
    unit: 'schedules',
    count: 10_000,
    round: async (seed) => {
      const folder = mkdtempSync(join(tmpdir(), 'hansard-rewrites-'));
      const place = name === 'postgres' ? newSchema() : folder;
      const all: Opening[] = [];
      const pass = (ms: number) => {
        for (const { clock } of all) clock.advance(ms, true);
      };
      for (let index = 0; index < openings; index += 1) {
        const clock = new ProcessClock();
        all.push({ store: await open(place, clock, pass), clock, isStopped: false });
      }
      const counts: Counts = { ...none };
      const random = createRandom(seed);
      const logs: Log[] = [];
      for (let index = 0; index < 20; index += 1) {
        const schedule = new Schedule(all, random, counts, name === 'postgres');
        logs.push(await schedule.run(`D${index}`));
        counts.schedules += 1;
      }
      for (const { store } of all) await store.close();
      const reader = await open(place, new ProcessClock(), pass);
      for (const log of logs) {
        await holds(reader, log);
        assert.deepEqual((await reader.verifyDispatch(taskDir, log.dispatchId)).damages, []);
      }
      const remains = (await reader.findRemains?.()) ?? [];
      await reader.close();
      const found = await census[name](place);
      const unnamed = found.filter((one) => !remains.some((line) => line.includes(one)));
      assert.deepEqual(unnamed, [], 'something in the storage belongs to nothing, and is not named');
      rmSync(folder, { recursive: true });
      return counts;
    },
  };
}

const none = {
  schedules: 0,
  'owners overtaken': 0,
  rewrites: 0,
  'appends inside a rewrite': 0,
  'events acknowledged': 0,
  'calls refused as STORE_LOCKED': 0,
};
type Counts = { -readonly [Name in keyof typeof none]: number };

async function holds(store: Store, { dispatchId, events, title }: Log): Promise<void> {
  assert.deepEqual(await store.getDispatchEvents(taskDir, dispatchId), events);
  assert.equal((await store.getDispatchEnvelope(taskDir, dispatchId))?.title, title);
}

const cleaned = (text: string) => text.replaceAll('secret', 'gone');
const withoutSecret = (event: CapturedEvent): CapturedEvent => ({
  ...event,
  data: { ...event.data, text: cleaned(String(event.data.text)) },
});

class Schedule {
  readonly #all: readonly Opening[];
  readonly #random: ReturnType<typeof createRandom>;
  readonly #counts: Counts;
  /** Whether a heartbeat takes time, so that an owner can lose its claim although it is not stopped. */
  readonly #hasServer: boolean;
  #next = 0;

  constructor(
    all: readonly Opening[],
    random: ReturnType<typeof createRandom>,
    counts: Counts,
    hasServer: boolean,
  ) {
    this.#all = all;
    this.#random = random;
    this.#counts = counts;
    this.#hasServer = hasServer;
  }

  async run(dispatchId: string): Promise<Log> {
    const owner = this.#any();
    const log: Log = { dispatchId, events: [], title: null, owner };
    await owner.store.createDispatch(taskDir, sampleEnvelope(dispatchId, { title: null }));
    for (let steps = 15 + this.#random.below(20); steps > 0; steps -= 1) await this.#step(log);
    for (const each of this.#all) each.isStopped = false;
    await this.#append(log, owner);
    await holds(this.#any().store, log);
    await log.owner?.store.releaseDispatch(taskDir, dispatchId);
    return log;
  }

  async #step(log: Log): Promise<void> {
    const { owner } = log;
    const one = this.#any();
    switch (this.#random.below(10)) {
      case 0:
      case 1:
      case 2:
        return this.#append(log, this.#random.below(4) > 0 && owner !== null ? owner : one);
      case 3:
        return this.#retitle(log, this.#random.below(3) > 0 && owner !== null ? owner : one);
      case 4:
        return this.#claim(log, one);
      case 5:
        return this.#rewrite(log, one);
      case 6:
        if (this.#random.below(2) > 0) return;
        await one.store.releaseDispatch(taskDir, log.dispatchId);
        if (owner === one) log.owner = null;
        return;
      case 7:
        return this.#overtake(log);
      case 8:
        for (const each of this.#all) each.isStopped = false;
        return this.#advance(leaseMs / 3);
      default:
        return holds(one.store, log);
    }
  }

  #any(): Opening {
    return this.#all[this.#random.below(this.#all.length)] as Opening;
  }

  /** Time passes. Heartbeats of a server are written meanwhile. */
  async #advance(ms: number): Promise<void> {
    for (const { clock, isStopped } of this.#all) clock.advance(ms, isStopped);
    if (this.#hasServer) await setImmediate();
  }

  /** The owner is stopped, and another one claims or rewrites the dispatch as soon as it may. */
  async #overtake(log: Log): Promise<void> {
    const { owner } = log;
    const other = this.#any();
    if (owner === null || other === owner) return;
    owner.isStopped = true;
    other.isStopped = false;
    const isRewrite = this.#random.below(2) > 0;
    for (let tries = 0; tries < 8 && log.owner === owner; tries += 1) {
      await (isRewrite ? this.#rewrite(log, other) : this.#claim(log, other));
      await this.#advance(leaseMs / 2);
    }
    assert.notEqual(log.owner, owner, 'nobody could overtake an owner that was stopped for four leases');
    owner.isStopped = this.#random.below(2) > 0;
    await this.#append(log, owner);
  }

  async #append(log: Log, by: Opening): Promise<void> {
    const events = this.#events(1 + this.#random.below(4));
    const done = await this.#try(() => by.store.appendEvents(taskDir, log.dispatchId, events));
    this.#allowed('an append', done, by === log.owner, by !== log.owner);
    if (done) this.#acknowledge(log, events);
  }

  #events(count: number): CapturedEvent[] {
    return Array.from({ length: count }, () => {
      this.#next += 1;
      const text = `${this.#random.below(2) > 0 ? 'secret' : 'plain'} ${this.#next}`;
      return sampleEvent(`e${String(this.#next).padStart(6, '0')}`, text);
    });
  }

  #acknowledge(log: Log, events: readonly CapturedEvent[]): void {
    log.events.push(...events);
    this.#counts['events acknowledged'] += events.length;
  }

  async #retitle(log: Log, by: Opening): Promise<void> {
    this.#next += 1;
    const title = `secret title ${this.#next}`;
    const done = await this.#try(() => by.store.updateDispatch(taskDir, log.dispatchId, { title }));
    this.#allowed('a change of the title', done, by === log.owner, by !== log.owner);
    if (done) log.title = title;
  }

  async #claim(log: Log, by: Opening): Promise<void> {
    const { owner } = log;
    const done = await this.#try(() => by.store.claimDispatch(taskDir, log.dispatchId));
    const isFree = owner === null || owner === by;
    this.#allowed('a claim', done, isFree, !isFree && !this.#mayLose(owner));
    if (!done) return;
    if (!isFree) this.#counts['owners overtaken'] += 1;
    log.owner = by;
  }

  async #rewrite(log: Log, by: Opening): Promise<void> {
    const { owner } = log;
    const [first] = this.#events(1);
    const notice = { ...(first as CapturedEvent), type: 'system:notice' as const };
    const intruder = this.#any();
    const events = this.#events(1);
    const at = this.#random.below(6);
    let seen = 0;
    let intrusion: Promise<boolean> | null = null;
    const rewrite = {
      envelope: <T extends { title: string | null }>(one: T) => ({
        ...one,
        title: one.title === null ? null : cleaned(one.title),
      }),
      event: (one: CapturedEvent) => {
        seen += 1;
        // The former owner, or anybody, appends while the new content is made.
        if (seen === at && intruder !== by)
          intrusion = this.#try(() => intruder.store.appendEvents(taskDir, log.dispatchId, events), true);
        return withoutSecret(one);
      },
      notice: () => notice,
    };
    const done = await this.#try(() => by.store.rewriteDispatch(taskDir, log.dispatchId, rewrite));
    const isFree = owner === null || owner === by;
    this.#allowed('a rewrite', done, isFree, !isFree && !this.#mayLose(owner));
    if (intrusion !== null) {
      this.#counts['appends inside a rewrite'] += 1;
      assert.equal(
        await intrusion,
        false,
        'an append inside the rewrite of another opening was acknowledged',
      );
    }
    if (!done) return;
    log.events.splice(0, Number.POSITIVE_INFINITY, ...log.events.map(withoutSecret), notice);
    if (log.title !== null) log.title = cleaned(log.title);
    this.#counts.rewrites += 1;
    if (isFree) return;
    this.#counts['owners overtaken'] += 1;
    log.owner = null;
  }

  #mayLose(owner: Opening | null): boolean {
    return owner?.isStopped === true || this.#hasServer;
  }

  #allowed(what: string, isDone: boolean, must: boolean, mustNot: boolean): void {
    if (must) assert.ok(isDone, `${what} with the claim, or without an owner, was refused`);
    if (mustNot) assert.ok(!isDone, `${what} beside an owner was acknowledged`);
  }

  /** Whether a call was acknowledged. It may only be refused as STORE_LOCKED; `isBusy`: or because a call of another opening is under way. */
  async #try(call: () => Awaitable<unknown>, isBusy = false): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      const isRefused = storeErrors.is(error, 'STORE_LOCKED');
      if (!isRefused && !(isBusy && storeErrors.is(error, 'STORE_UNAVAILABLE'))) throw error;
      if (isRefused) this.#counts['calls refused as STORE_LOCKED'] += 1;
      return false;
    }
  }
}
