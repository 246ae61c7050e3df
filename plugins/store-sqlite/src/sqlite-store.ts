import { resolve } from 'node:path';
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
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type RemainsScope,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import { assertDispatchPath, defaultLeaseMs, type Processes, storeClosed } from '@hansard/store-kit';
import { ChangeWatch } from './change-watch.ts';
import {
  breakClaim,
  claimDispatch,
  createDispatch,
  findClaim,
  findClaims,
  isClaimedHere,
  releaseDispatch,
  removeDispatch,
  updateEnvelope,
} from './claimed-dispatches.ts';
import { type StoreSystem, thisSystem } from './database/open-database.ts';
import { findRemains, removeRemains } from './database/remove-remains.ts';
import { inSnapshot, inTransaction } from './database/transaction.ts';
import { acceptLoss, adoptDispatch, rewriteDispatch } from './events/renewal.ts';
import { toStoreError } from './sqlite-errors.ts';
import { openConnection, type StoreConnection } from './store-connection.ts';
import type { StoreParts } from './store-parts.ts';

export interface SqliteStoreSetup {
  readonly connection: StoreConnection;
  readonly file: string;
  readonly durability: 'process' | 'disk';
  readonly watchInterval: number;
  readonly processes: Processes;
  readonly clock: Clock;
}

/** A store in one SQLite database. Every method is synchronous. Created by {@link openSqliteStore}. */
export class SqliteStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #connection: StoreConnection;
  readonly #file: string;
  readonly #place: { readonly file: string; readonly processes: Processes };
  readonly #watch: ChangeWatch;
  #closed = false;

  constructor({ connection, file, durability, watchInterval, processes, clock }: SqliteStoreSetup) {
    this.capabilities = {
      durability,
      writers: 'dispatch',
      search: 'index',
      watch: true,
      deleteDispatch: true,
      rewrite: true,
      integrity: 'checksum',
    };
    this.#connection = connection;
    this.#file = file;
    this.#place = { file, processes };
    this.#watch = new ChangeWatch(connection, watchInterval, clock);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    this.#guard(() => {
      assertDispatchPath(taskDir, envelope.dispatchId);
      this.#connection.writeFirst((parts) => createDispatch(parts, taskDir, envelope));
      this.#watch.changed(taskDir, envelope.dispatchId);
    });
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    return this.#writeOne(taskDir, dispatchId, (parts) => claimDispatch(parts, taskDir, dispatchId));
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const isClaimed = this.#runOne(taskDir, dispatchId, (parts) => isClaimedHere(parts, taskDir, dispatchId));
    if (isClaimed) this.#write((parts) => releaseDispatch(parts, taskDir, dispatchId));
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    return this.#writeOne(taskDir, dispatchId, (parts) => {
      const envelope = updateEnvelope(parts, taskDir, dispatchId, updates);
      this.#watch.changed(taskDir, dispatchId);
      return envelope;
    });
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): number {
    return this.#append(({ writer }) => {
      const position = writer.append(taskDir, dispatchId, event);
      this.#watch.changed(taskDir, dispatchId);
      return position;
    });
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): number[] {
    return this.#append(({ writer }) => {
      const positions = writer.appendAll(taskDir, dispatchId, events);
      this.#watch.changed(taskDir, dispatchId);
      return positions;
    });
  }

  findClaim(taskDir: string, dispatchId: string): ClaimState | null {
    return this.#runOne(taskDir, dispatchId, (parts) => findClaim(parts, taskDir, dispatchId));
  }

  findClaims(taskDir: string, dispatchIds: readonly string[]): (ClaimState | null)[] {
    return this.#run((parts) => {
      assertTaskDir(taskDir);
      for (const dispatchId of dispatchIds) assertDispatchId(dispatchId);
      return findClaims(parts, taskDir, dispatchIds);
    });
  }

  breakClaim(taskDir: string, dispatchId: string): void {
    this.#runOne(taskDir, dispatchId, (parts) => {
      breakClaim(parts, taskDir, dispatchId);
    });
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    return this.#run(({ dispatches }) => {
      assertTaskDir(taskDir);
      return dispatches.list(taskDir).map(({ envelope, error }) => {
        if (envelope === null) throw error;
        return envelope;
      });
    });
  }

  listDispatches(options: ListDispatchesOptions = {}): DispatchPage {
    return this.#run(({ pages }) => {
      if (options.taskDir !== undefined) assertTaskDir(options.taskDir);
      return pages.page(options);
    });
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    return this.#runOne(taskDir, dispatchId, ({ dispatches }) => {
      const row = dispatches.find(taskDir, dispatchId);
      return row === null ? null : dispatches.decode(row);
    });
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    return this.#runOne(taskDir, dispatchId, ({ reader }) => reader.all(taskDir, dispatchId));
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    return this.#runOne(taskDir, dispatchId, ({ reader }) => reader.recent(taskDir, dispatchId, count));
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): EventPage {
    return this.#runOne(taskDir, dispatchId, ({ reader }) => reader.page(taskDir, dispatchId, options));
  }

  putTask(taskDir: string, task: TaskRecord): void {
    this.#guard(() => {
      assertTaskDir(taskDir);
      this.#connection.writeFirst(({ database, tasks }) =>
        inTransaction(database, () => tasks.put(taskDir, task)),
      );
      this.#watch.changed(taskDir, null);
    });
  }

  findTask(taskDir: string): TaskRecord | null {
    return this.#run(({ tasks }) => {
      assertTaskDir(taskDir);
      return tasks.get(taskDir);
    });
  }

  listTasks(): TaskListing[] {
    return this.#run(({ tasks }) => tasks.list());
  }

  /** Searches all strings in an event's data but encoded bytes for words, as `splitWords` splits them; ignores case and accents. */
  searchEvents(query: string, options: SearchEventsOptions = {}): SearchHit[] {
    return this.#run(({ search }) => {
      if (options.taskDir !== undefined) assertTaskDir(options.taskDir);
      if (options.dispatchId !== undefined) assertDispatchId(options.dispatchId);
      return search.search(query, options);
    });
  }

  watch(scope: WatchScope, onChange: () => void): StopWatching {
    return this.#guard(() => {
      if (scope.taskDir !== undefined) assertTaskDir(scope.taskDir);
      if (scope.dispatchId !== undefined) assertDispatchId(scope.dispatchId);
      return this.#watch.watch(scope, onChange);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    this.#writeOne(taskDir, dispatchId, (parts) => {
      removeDispatch(parts, taskDir, dispatchId);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  verifyDispatch(taskDir: string, dispatchId: string): DispatchVerification {
    return this.#runOne(taskDir, dispatchId, ({ reader }) => reader.verify(taskDir, dispatchId));
  }

  acceptLoss(taskDir: string, dispatchId: string, notice: CapturedEvent): DispatchVerification {
    return this.#writeOne(taskDir, dispatchId, (parts) => {
      const found = acceptLoss(parts, taskDir, dispatchId, notice);
      this.#watch.changed(taskDir, dispatchId);
      return found;
    });
  }

  rewriteDispatch(taskDir: string, dispatchId: string, rewrite: DispatchRewrite): DispatchRewritten {
    return this.#writeOne(taskDir, dispatchId, (parts) => {
      const rewritten = rewriteDispatch(parts, { taskDir, dispatchId, file: this.#file }, rewrite);
      this.#watch.changed(taskDir, dispatchId);
      return rewritten;
    });
  }

  adoptDispatches(taskDir: string, dispatchId?: string): string[] {
    return this.#write((parts) => {
      assertTaskDir(taskDir);
      if (dispatchId !== undefined) assertDispatchId(dispatchId);
      if (dispatchId === undefined) inTransaction(parts.database, () => parts.tasks.adopt(taskDir));
      const ids =
        dispatchId === undefined
          ? parts.statements.listIds.all(taskDir).map((row) => row.dispatchId)
          : [dispatchId];
      const adopted = ids.filter((id) => adoptDispatch(parts, { taskDir, dispatchId: id, file: this.#file }));
      for (const id of adopted) this.#watch.changed(taskDir, id);
      return adopted;
    });
  }

  findRemains(scope: RemainsScope = {}): string[] {
    return this.#run(({ database }) => {
      if (scope.taskDir !== undefined) assertTaskDir(scope.taskDir);
      return inSnapshot(database, () => findRemains(database, this.#place, scope));
    });
  }

  removeRemains(): string[] {
    return this.#write(({ database }) => removeRemains(database, this.#file));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.stopAll();
    try {
      this.#connection.close();
    } catch (error) {
      throw toStoreError(error, this.#file);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #run<T>(work: (parts: StoreParts) => T): T {
    return this.#guard(() => this.#connection.use(work));
  }

  /** As `#run`, for a method that receives both names. */
  #runOne<T>(taskDir: string, dispatchId: string, work: (parts: StoreParts) => T): T {
    return this.#run((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      return work(parts);
    });
  }

  #writeOne<T>(taskDir: string, dispatchId: string, work: (parts: StoreParts) => T): T {
    return this.#write((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      return work(parts);
    });
  }

  #append<T>(work: (parts: StoreParts) => T): T {
    return this.#guard(() => this.#connection.append(work));
  }

  #write<T>(work: (parts: StoreParts) => T): T {
    return this.#guard(() => this.#connection.write(work));
  }

  #guard<T>(work: () => T): T {
    if (this.#closed) throw storeClosed(this.#file);
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, this.#file);
    }
  }
}

export interface SqliteStoreOptions {
  /** The database file. The first write creates it and its folder if they do not exist. */
  readonly path: string;
  /**
   * The failures that an acknowledged append survives: `process` (the default), the end of the process; `disk`, also the
   * loss of power, at the price of one flush of the disk per append.
   */
  readonly durability?: 'process' | 'disk';
  /**
   * The time in milliseconds that a call, or the opening, waits for another process before it is STORE_UNAVAILABLE, which is transient.
   * Nothing else runs in this process meanwhile. Default 100.
   */
  readonly busyTimeout?: number;
  /** The interval in milliseconds at which a watching store looks for writes of other processes. Default 100. */
  readonly watchInterval?: number;
  /**
   * The time in milliseconds for which another opening must see no heartbeat of a claim's owner before it may take the claim over.
   * The owner renews its heartbeat three times as often. Default 15,000.
   */
  readonly leaseMs?: number;
  /** Who may use the files that the store creates: `private` (the default), their owner; `shared`, as the umask says. */
  readonly access?: 'private' | 'shared';
}

/**
 * Opens the store in a database file. Reading creates nothing.
 * @throws STORE_UNAVAILABLE if the file cannot be opened, belongs to another program or was written by a newer version
 * @throws STORE_CORRUPT if the file is not a database, is damaged or is empty
 */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  return openStoreOn(options);
}

/** With parts of the machine replaced, for tests. */
export function openStoreOn(
  {
    path,
    durability = 'process',
    busyTimeout = 100,
    watchInterval = 100,
    leaseMs = defaultLeaseMs,
    access = 'private',
  }: SqliteStoreOptions,
  system: Partial<StoreSystem> = {},
): SqliteStore {
  const file = resolve(path);
  const connection = openConnection({
    file,
    durability,
    busyTimeout,
    leaseMs,
    access,
    ...thisSystem,
    ...system,
  });
  const { processes, clock } = { ...thisSystem, ...system };
  return new SqliteStore({ connection, file, durability, watchInterval, processes, clock });
}
