import type { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import {
  assertDispatchId,
  assertTaskDir,
  type DispatchStoreProvider,
  type EventPage,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  StoreError,
  type TaskListing,
} from '@hansard/provider';
import { ChangeWatch } from './change-watch.ts';
import { decodeJson } from './decode.ts';
import { EventReader } from './event-reader.ts';
import { EventSearch } from './event-search.ts';
import { EventWriter } from './event-writer.ts';
import { dispatchNotFound } from './find-dispatch.ts';
import { toStoreError } from './sqlite-errors.ts';
import { type DispatchRow, prepareStatements, type Statements } from './statements.ts';
import { inTransaction } from './transaction.ts';
import { WriterLeases } from './writer-lease.ts';

export interface SqliteStoreParts {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly durability: 'process' | 'disk';
  readonly watchInterval: number;
}

/** A store in one SQLite database. Every method answers at once. Made by {@link openSqliteStore}. */
export class SqliteStore implements DispatchStoreProvider {
  readonly capabilities: StoreCapabilities;
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #statements: Statements;
  readonly #leases: WriterLeases;
  readonly #writer: EventWriter;
  readonly #reader: EventReader;
  readonly #search: EventSearch;
  readonly #watch: ChangeWatch;
  #closed = false;

  constructor({ database, file, durability, watchInterval }: SqliteStoreParts) {
    this.capabilities = { durability, writers: 'dispatch', search: true, watch: true, deleteDispatch: true };
    this.#database = database;
    this.#file = file;
    this.#statements = prepareStatements(database);
    this.#leases = new WriterLeases(this.#statements, file);
    this.#writer = new EventWriter(database, this.#statements, this.#leases, file);
    this.#reader = new EventReader(this.#statements, file);
    this.#search = new EventSearch(database, this.#statements, file);
    this.#watch = new ChangeWatch(this.#statements, watchInterval);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    this.#run(() => {
      const { dispatchId } = envelope;
      assertPlace(taskDir, dispatchId);
      const { changes } = this.#statements.insertDispatch.run(taskDir, dispatchId, JSON.stringify(envelope));
      if (changes !== 0) return;
      throw new StoreError(
        'STORE_DISPATCH_EXISTS',
        `Task ${taskDir} already has a dispatch ${dispatchId}. Update it, or create one with a new id.`,
        { details: { taskDir, dispatchId } },
      );
    });
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): void {
    this.#run(() => {
      assertPlace(taskDir, dispatchId);
      const ends = updates.status !== undefined && updates.status !== 'running';
      inTransaction(this.#database, () => {
        const row = this.#statements.getDispatch.get(taskDir, dispatchId);
        if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
        this.#leases.assertFree(row.number, dispatchId);
        const changed: Record<string, unknown> = { ...this.#decodeEnvelope(row) };
        for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
        this.#statements.setEnvelope.run(JSON.stringify(changed), row.number);
        if (ends) this.#leases.release(row.number);
      });
      if (ends) this.#writer.forget(taskDir, dispatchId);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): void {
    this.#run(() => {
      this.#writer.append(taskDir, dispatchId, event);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): void {
    this.#run(() => {
      this.#writer.appendAll(taskDir, dispatchId, events);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    return this.#run(() => {
      assertTaskDir(taskDir);
      return this.#statements.listDispatches
        .all(taskDir)
        .map((row) => this.#decodeEnvelope(row))
        .sort(
          (left, right) =>
            compare(left.startedAt, right.startedAt) || compare(left.dispatchId, right.dispatchId),
        );
    });
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    return this.#run(() => {
      assertPlace(taskDir, dispatchId);
      const row = this.#statements.getDispatch.get(taskDir, dispatchId);
      return row === undefined ? null : this.#decodeEnvelope(row);
    });
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    return this.#run(() => {
      assertPlace(taskDir, dispatchId);
      return this.#reader.all(taskDir, dispatchId);
    });
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    return this.#run(() => {
      assertPlace(taskDir, dispatchId);
      return this.#reader.recent(taskDir, dispatchId, count);
    });
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): EventPage {
    return this.#run(() => {
      assertPlace(taskDir, dispatchId);
      return this.#reader.page(taskDir, dispatchId, options);
    });
  }

  putTask(taskDir: string, task: TaskRecord): void {
    this.#run(() => {
      assertTaskDir(taskDir);
      this.#statements.putTask.run(taskDir, JSON.stringify(task));
    });
  }

  getTask(taskDir: string): TaskRecord | null {
    return this.#run(() => {
      assertTaskDir(taskDir);
      return this.#decodeTask(taskDir, this.#statements.getTask.get(taskDir)?.task ?? null);
    });
  }

  listTasks(): TaskListing[] {
    return this.#run(() =>
      this.#statements.listTasks
        .all()
        .map(({ taskDir, task }) => ({ taskDir, task: this.#decodeTask(taskDir, task) }))
        .sort((left, right) => compare(left.taskDir, right.taskDir)),
    );
  }

  /** Words are runs of letters and digits, without regard to case and accents, in any string of an event's data. */
  searchEvents(taskDir: string, query: string, options: SearchEventsOptions = {}): SearchHit[] {
    return this.#run(() => {
      assertTaskDir(taskDir);
      if (options.dispatchId !== undefined) assertDispatchId(options.dispatchId);
      return this.#search.search(taskDir, query, options);
    });
  }

  watchEvents(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    return this.#run(() => {
      assertPlace(taskDir, dispatchId);
      return this.#watch.watch(taskDir, dispatchId, onChange);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    this.#run(() => {
      assertPlace(taskDir, dispatchId);
      inTransaction(this.#database, () => {
        const row = this.#statements.getDispatch.get(taskDir, dispatchId);
        if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
        const { number } = row;
        this.#leases.assertFree(number, dispatchId);
        this.#statements.deleteSearchText.run(number, number);
        this.#statements.deleteEventIds.run(number);
        this.#statements.deleteEvents.run(number);
        this.#statements.deleteDispatch.run(number);
        this.#leases.release(number);
      });
      this.#writer.forget(taskDir, dispatchId);
      this.#watch.changed(taskDir, dispatchId);
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.stopAll();
    try {
      this.#leases.releaseAll();
    } catch (error) {
      throw toStoreError(error, this.#file);
    } finally {
      this.#database.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #run<T>(work: () => T): T {
    if (this.#closed) {
      throw new StoreError('STORE_CLOSED', `The store ${this.#file} is closed. Open it again to use it.`, {
        details: { file: this.#file },
      });
    }
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, this.#file);
    }
  }

  #decodeEnvelope({ dispatchId, envelope }: DispatchRow): DispatchEnvelope {
    return decodeJson(envelope, `the envelope of dispatch ${dispatchId}`, this.#file, { dispatchId });
  }

  #decodeTask(taskDir: string, task: string | null): TaskRecord | null {
    return task === null ? null : decodeJson(task, `the record of task ${taskDir}`, this.#file, { taskDir });
  }
}

function assertPlace(taskDir: string, dispatchId: string): void {
  assertTaskDir(taskDir);
  assertDispatchId(dispatchId);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
