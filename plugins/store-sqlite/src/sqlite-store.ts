import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import {
  assertDispatchId,
  assertTaskDir,
  compareByStart,
  type DispatchClaim,
  type DispatchStoreProvider,
  type EventPage,
  isStoreError,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  type TaskListing,
} from '@hansard/provider';
import { assertDispatchPath, storeClosed } from '@hansard/store-kit';
import { ChangeWatch } from './change-watch.ts';
import { decodeJson } from './database/decode.ts';
import {
  claimDispatch,
  decodeEnvelope,
  insertDispatch,
  isClaimedHere,
  releaseDispatch,
  removeDispatch,
  updateEnvelope,
} from './dispatch-table.ts';
import { toStoreError } from './sqlite-errors.ts';
import type { StoreConnection, StoreParts } from './store-connection.ts';

export interface SqliteStoreSetup {
  readonly connection: StoreConnection;
  readonly file: string;
  readonly durability: 'process' | 'disk';
  readonly watchInterval: number;
}

/** A store in one SQLite database. Every method is synchronous. Created by {@link openSqliteStore}. */
export class SqliteStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #connection: StoreConnection;
  readonly #file: string;
  readonly #watch: ChangeWatch;
  #closed = false;

  constructor({ connection, file, durability, watchInterval }: SqliteStoreSetup) {
    this.capabilities = {
      durability,
      writers: 'dispatch',
      search: true,
      watch: true,
      deleteDispatch: true,
      integrity: 'none',
    };
    this.#connection = connection;
    this.#file = file;
    this.#watch = new ChangeWatch(connection, watchInterval);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    this.#guard(() => {
      assertDispatchPath(taskDir, envelope.dispatchId);
      this.#connection.writeFirst((parts) => insertDispatch(parts, taskDir, envelope));
    });
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    return this.#write((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      return claimDispatch(parts, taskDir, dispatchId, this.#file);
    });
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const isClaimed = this.#run((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      return isClaimedHere(parts, taskDir, dispatchId);
    });
    if (isClaimed) this.#write((parts) => releaseDispatch(parts, taskDir, dispatchId));
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    return this.#write((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      const envelope = updateEnvelope(parts, taskDir, dispatchId, updates, this.#file);
      this.#watch.changed(taskDir, dispatchId);
      return envelope;
    });
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): void {
    this.#append(({ writer }) => {
      writer.append(taskDir, dispatchId, event);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): void {
    this.#append(({ writer }) => {
      writer.appendAll(taskDir, dispatchId, events);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    return this.#run(({ statements }) => {
      assertTaskDir(taskDir);
      return statements.listDispatches
        .all(taskDir)
        .map((row) => decodeEnvelope(row, this.#file))
        .sort(compareByStart);
    });
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    return this.#run(({ statements }) => {
      assertDispatchPath(taskDir, dispatchId);
      const row = statements.getDispatch.get(taskDir, dispatchId);
      return row === undefined ? null : decodeEnvelope(row, this.#file);
    });
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    return this.#run(({ reader }) => {
      assertDispatchPath(taskDir, dispatchId);
      return reader.all(taskDir, dispatchId);
    });
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    return this.#run(({ reader }) => {
      assertDispatchPath(taskDir, dispatchId);
      return reader.recent(taskDir, dispatchId, count);
    });
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): EventPage {
    return this.#run(({ reader }) => {
      assertDispatchPath(taskDir, dispatchId);
      return reader.page(taskDir, dispatchId, options);
    });
  }

  putTask(taskDir: string, task: TaskRecord): void {
    this.#guard(() => {
      assertTaskDir(taskDir);
      this.#connection.writeFirst(({ statements }) => statements.putTask.run(taskDir, JSON.stringify(task)));
    });
  }

  getTask(taskDir: string): TaskRecord | null {
    return this.#run(({ statements }) => {
      assertTaskDir(taskDir);
      return this.#decodeTask(taskDir, statements.getTask.get(taskDir)?.task ?? null);
    });
  }

  listTasks(): TaskListing[] {
    return this.#run(({ statements }) =>
      statements.listTasks
        .all()
        .map(({ taskDir, task }) => this.#listTask(taskDir, task))
        .sort((left, right) => compare(left.taskDir, right.taskDir)),
    );
  }

  /** Searches all strings in an event's data but ids of calls and encoded bytes for whole words; ignores case and accents. */
  searchEvents(taskDir: string, query: string, options: SearchEventsOptions = {}): SearchHit[] {
    return this.#run(({ search }) => {
      assertTaskDir(taskDir);
      if (options.dispatchId !== undefined) assertDispatchId(options.dispatchId);
      return search.search(taskDir, query, options);
    });
  }

  watchEvents(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    return this.#guard(() => {
      assertDispatchPath(taskDir, dispatchId);
      return this.#watch.watch(taskDir, dispatchId, onChange);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    this.#write((parts) => {
      assertDispatchPath(taskDir, dispatchId);
      removeDispatch(parts, taskDir, dispatchId);
      this.#watch.changed(taskDir, dispatchId);
    });
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

  #append(work: (parts: StoreParts) => void): void {
    this.#guard(() => this.#connection.append(work));
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

  #listTask(taskDir: string, task: string | null): TaskListing {
    try {
      return { taskDir, task: this.#decodeTask(taskDir, task) };
    } catch (error) {
      if (isStoreError(error)) return { taskDir, task: null, error };
      throw error;
    }
  }

  #decodeTask(taskDir: string, task: string | null): TaskRecord | null {
    return task === null ? null : decodeJson(task, `the record of task ${taskDir}`, this.#file, { taskDir });
  }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
