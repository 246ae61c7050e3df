import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import {
  assertDispatchId,
  assertTaskDir,
  type ClaimState,
  type Clock,
  type DispatchClaim,
  type DispatchPage,
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchStoreProvider,
  type DispatchVerification,
  type EventPage,
  isInternalTask,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type RemainsScope,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  type StoreServer,
  storeErrors,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import { assertDispatchPath, dispatchNotFound, storeClosed } from '@hansard/store-kit';
import type { ChangeWatch } from './change-watch.ts';
import { Claims } from './claims.ts';
import { isLostConnection, toStoreError } from './database/postgres-errors.ts';
import { findRemains, removeRemains } from './database/remove-remains.ts';
import type { TaskRow } from './database/statements.ts';
import type { Tables } from './database/tables.ts';
import { EventReader } from './events/event-reader.ts';
import { EventSearch } from './events/event-search.ts';
import { EventWriter } from './events/event-writer.ts';
import { acceptLoss, adoptDispatch, type RenewalSetup, rewriteDispatch } from './events/renewal.ts';
import { decodeRecord, recordChecksum } from './tables/decode.ts';
import { DispatchTable, listDispatches } from './tables/dispatch-table.ts';

export interface PostgresStoreSetup {
  readonly tables: Tables;
  readonly watch: ChangeWatch;
  readonly durability: 'process' | 'disk';
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Milliseconds: `close` waits so long for calls under way, and for connections. */
const closeMs = 2_000;

/** A store in a PostgreSQL database. Created by {@link openPostgresStore}. */
export class PostgresStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #tables: Tables;
  readonly #watch: ChangeWatch;
  readonly #clock: Clock;
  readonly #claims: Claims;
  readonly #dispatches: DispatchTable;
  readonly #tasks: TaskTable;
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #search: EventSearch;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor({ tables, watch, durability, leaseMs, clock }: PostgresStoreSetup) {
    this.capabilities = {
      durability,
      writers: 'dispatch',
      search: 'index',
      watch: true,
      deleteDispatch: true,
      rewrite: true,
      integrity: 'checksum',
    };
    this.#tables = tables;
    this.#watch = watch;
    this.#clock = clock;
    this.#claims = new Claims({ tables, leaseMs, clock });
    this.#dispatches = new DispatchTable(tables, this.#claims, () => clock.monotonic());
    this.#tasks = new TaskTable(tables);
    this.#reader = new EventReader(tables);
    this.#writer = new EventWriter(tables, this.#claims, this.#reader);
    this.#search = new EventSearch(tables);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): Promise<void> {
    const { dispatchId } = envelope;
    const copy = structuredClone(envelope);
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, () => this.#dispatches.create(taskDir, copy)),
    );
  }

  claimDispatch(taskDir: string, dispatchId: string): Promise<DispatchClaim> {
    return this.#runOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, () => this.#claims.claim(taskDir, dispatchId)),
    );
  }

  releaseDispatch(taskDir: string, dispatchId: string): Promise<void> {
    return this.#runOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, async () => {
        await this.#claims.release(taskDir, dispatchId);
        this.#reader.forget(taskDir, dispatchId);
      }),
    );
  }

  findClaim(taskDir: string, dispatchId: string): Promise<ClaimState | null> {
    return this.#runOne(taskDir, dispatchId, () => this.#claims.stateOf(taskDir, dispatchId));
  }

  findClaims(taskDir: string, dispatchIds: readonly string[]): Promise<(ClaimState | null)[]> {
    return this.#run(() => {
      assertTaskDir(taskDir);
      for (const dispatchId of dispatchIds) assertDispatchId(dispatchId);
      return this.#claims.statesOf(taskDir, dispatchIds);
    });
  }

  breakClaim(taskDir: string, dispatchId: string): Promise<void> {
    return this.#runOne(taskDir, dispatchId, () => this.#claims.break(taskDir, dispatchId));
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const copy = structuredClone(updates);
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.inOrder(taskDir, dispatchId, () => this.#dispatches.update(taskDir, dispatchId, copy)),
    );
  }

  async appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): Promise<number> {
    const [position] = await this.appendEvents(taskDir, dispatchId, [event]);
    return position as number;
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): Promise<number[]> {
    return this.#changeOne(taskDir, dispatchId, () => this.#writer.append(taskDir, dispatchId, events));
  }

  getDispatchEnvelopes(taskDir: string): Promise<DispatchEnvelope[]> {
    return this.#run(() => {
      assertTaskDir(taskDir);
      return this.#dispatches.envelopes(taskDir);
    });
  }

  listDispatches(options: ListDispatchesOptions = {}): Promise<DispatchPage> {
    return this.#run(() => {
      if (options.taskDir !== undefined) assertTaskDir(options.taskDir);
      return listDispatches(this.#tables, options);
    });
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null> {
    return this.#runOne(taskDir, dispatchId, () => this.#dispatches.get(taskDir, dispatchId));
  }

  getDispatchEvents(taskDir: string, dispatchId: string): Promise<CapturedEvent[]> {
    return this.#runOne(taskDir, dispatchId, () => this.#reader.all(taskDir, dispatchId));
  }

  async getRecentEvents(taskDir: string, dispatchId: string, count: number): Promise<CapturedEvent[]> {
    return (await this.readEvents(taskDir, dispatchId, { last: count })).events;
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): Promise<EventPage> {
    return this.#runOne(taskDir, dispatchId, () => this.#reader.page(taskDir, dispatchId, options));
  }

  putTask(taskDir: string, task: TaskRecord): Promise<void> {
    return this.#run(async () => {
      assertTaskDir(taskDir);
      await this.#tasks.put(taskDir, task);
      this.#watch.changed(taskDir, null);
    });
  }

  findTask(taskDir: string): Promise<TaskRecord | null> {
    return this.#run(() => {
      assertTaskDir(taskDir);
      return this.#tasks.get(taskDir);
    });
  }

  listTasks(): Promise<TaskListing[]> {
    return this.#run(() => this.#tasks.list());
  }

  /** Searches all strings in an event's data but encoded bytes for words, as `splitWords` splits them; ignores case and accents. */
  searchEvents(query: string, options: SearchEventsOptions = {}): Promise<SearchHit[]> {
    return this.#run(() => {
      assertScope(options);
      return this.#search.search(query, options);
    });
  }

  watch(scope: WatchScope, onChange: () => void): Promise<StopWatching> {
    return this.#run(async () => {
      assertScope(scope);
      const stop = await this.#watch.watch(scope, onChange);
      const { taskDir, dispatchId } = scope;
      if (taskDir === undefined || dispatchId === undefined) return stop;
      const { getDispatch } = this.#tables.statements;
      if ((await this.#tables.rows(getDispatch, [taskDir, dispatchId])).length > 0) return stop;
      stop();
      throw dispatchNotFound(taskDir, dispatchId);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): Promise<void> {
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, async () => {
        await this.#dispatches.remove(taskDir, dispatchId);
        this.#claims.drop(taskDir, dispatchId);
        this.#reader.forget(taskDir, dispatchId);
      }),
    );
  }

  verifyDispatch(taskDir: string, dispatchId: string): Promise<DispatchVerification> {
    return this.#runOne(taskDir, dispatchId, () => this.#reader.verify(taskDir, dispatchId));
  }

  acceptLoss(taskDir: string, dispatchId: string, notice: CapturedEvent): Promise<DispatchVerification> {
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, () =>
        acceptLoss(this.#renewal(), taskDir, dispatchId, notice),
      ),
    );
  }

  rewriteDispatch(taskDir: string, dispatchId: string, rewrite: DispatchRewrite): Promise<DispatchRewritten> {
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, () =>
        rewriteDispatch(this.#renewal(), taskDir, dispatchId, rewrite),
      ),
    );
  }

  adoptDispatches(taskDir: string, dispatchId?: string): Promise<string[]> {
    return this.#run(async () => {
      assertTaskDir(taskDir);
      if (dispatchId !== undefined) assertDispatchId(dispatchId);
      const ids = dispatchId === undefined ? await this.#dispatches.misplaced(taskDir) : [dispatchId];
      const adopted: string[] = [];
      for (const id of ids) {
        const adopt = () => adoptDispatch(this.#renewal(), taskDir, id);
        if (!(await this.#writer.exclusively(taskDir, id, adopt))) continue;
        adopted.push(id);
        this.#watch.changed(taskDir, id);
      }
      return adopted;
    });
  }

  #renewal(): RenewalSetup {
    return {
      tables: this.#tables,
      claims: this.#claims,
      reader: this.#reader,
      now: () => this.#clock.monotonic(),
    };
  }

  findRemains(scope: RemainsScope = {}): Promise<string[]> {
    return this.#run(() => {
      if (scope.taskDir !== undefined) assertTaskDir(scope.taskDir);
      return findRemains(this.#tables, scope);
    });
  }

  removeRemains(): Promise<string[]> {
    return this.#run(() => removeRemains(this.#tables));
  }

  getServer(): Promise<StoreServer> {
    return this.#run(async () => ({ name: this.#tables.name, version: await this.#tables.serverVersion() }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const { database } = this.#tables;
    // Without an answer of the server, everything is cut, and the claims expire.
    const cancel = this.#clock.after(closeMs, () => database.cut());
    try {
      await Promise.allSettled(this.#underWay);
      await this.#watch.close();
      await this.#claims.end();
    } catch {
      // The database is away. Its rows say that this opening has claims, which expire after a lease.
    }
    cancel();
    await database.close(closeMs);
  }

  /** As `#runOne`, for a change, of which listeners are notified. */
  #changeOne<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#runOne(taskDir, dispatchId, async () => {
      const result = await work();
      this.#watch.changed(taskDir, dispatchId);
      return result;
    });
  }

  #runOne<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#run(() => {
      assertDispatchPath(taskDir, dispatchId);
      return work();
    });
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw storeClosed(this.#tables.name);
    const running = this.#guard(work);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error, this.#tables.database.name);
    }
  }
}

function assertScope({ taskDir, dispatchId }: WatchScope): void {
  if (taskDir !== undefined) assertTaskDir(taskDir);
  if (dispatchId !== undefined) assertDispatchId(dispatchId);
}

/** The records of tasks. */
class TaskTable {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async put(taskDir: string, task: TaskRecord): Promise<void> {
    const record = JSON.stringify(task);
    await this.#tables.create();
    const { insertTask, lockTask, replaceTask } = this.#tables.statements;
    const values = [taskDir, recordChecksum(record), record];
    const put = () =>
      this.#tables.transaction(async (session) => {
        if ((await session.run(insertTask, values)).count > 0) return;
        // Nobody changes it before the commit, and no record is ever removed.
        const { rows } = await session.run(lockTask, [taskDir]);
        for (const row of rows) this.#assertKnown(row);
        await session.run(replaceTask, values);
      });
    try {
      await put();
    } catch (error) {
      if (!isLostConnection(error)) throw error;
      await put();
    }
  }

  /** A damaged record is replaced. @throws STORE_NEWER */
  #assertKnown(row: TaskRow): void {
    try {
      decodeRecord(row, this.#tables.name);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    }
  }

  async get(taskDir: string): Promise<TaskRecord | null> {
    const [row] = await this.#tables.rows(this.#tables.statements.findTask, [taskDir]);
    return row === undefined ? null : decodeRecord(row, this.#tables.name);
  }

  /** Every task that has a record or a dispatch. */
  async list(): Promise<TaskListing[]> {
    const rows = await this.#tables.rows(this.#tables.statements.listTasks, []);
    return rows
      .filter(({ taskDir }) => !isInternalTask(taskDir))
      .map((row) => this.#listed(row))
      .sort((left, right) => (left.taskDir < right.taskDir ? -1 : 1));
  }

  #listed(row: TaskRow): TaskListing {
    const { taskDir } = row;
    try {
      return { taskDir, task: decodeRecord(row, this.#tables.name) };
    } catch (error) {
      if (storeErrors.is(error)) return { taskDir, task: null, error };
      throw error;
    }
  }
}
