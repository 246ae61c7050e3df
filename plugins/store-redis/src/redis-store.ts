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
  type StoreServer,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import { assertDispatchPath, dispatchNotFound, storeClosed } from '@hansard/store-kit';
import { ChangeWatch } from './change-watch.ts';
import { Claims } from './claims.ts';
import { DispatchTable } from './dispatch-table.ts';
import { searchEvents } from './event-search.ts';
import { EventReader } from './events/event-reader.ts';
import { EventWriter } from './events/event-writer.ts';
import { acceptLoss, adoptDispatch, type RenewalSetup, rewriteDispatch } from './events/renewal.ts';
import { findRemains, removeRemains } from './remains.ts';
import { toStoreError } from './server/redis-errors.ts';
import type { Server } from './server/server.ts';

export interface RedisStoreSetup {
  readonly server: Server;
  readonly durability: 'process' | 'disk';
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Milliseconds: `close` waits so long for calls under way. */
const closeMs = 2_000;

/** A store in Redis or Valkey. Created by {@link openRedisStore}. */
export class RedisStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #claims: Claims;
  readonly #watch: ChangeWatch;
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #table: DispatchTable;
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor({ server, durability, leaseMs, clock }: RedisStoreSetup) {
    this.capabilities = {
      durability,
      writers: 'dispatch',
      search: 'scan',
      watch: true,
      deleteDispatch: true,
      rewrite: true,
      integrity: 'checksum',
    };
    this.#server = server;
    this.#clock = clock;
    this.#claims = new Claims(server, leaseMs, clock);
    this.#watch = new ChangeWatch(server, this.#claims.token, clock);
    this.#reader = new EventReader(server);
    this.#writer = new EventWriter(server, this.#claims, this.#reader);
    this.#table = new DispatchTable(server, this.#claims, this.#reader);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): Promise<void> {
    const { dispatchId } = envelope;
    const copy = structuredClone(envelope);
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, () => this.#table.create(taskDir, copy)),
    );
  }

  claimDispatch(taskDir: string, dispatchId: string): Promise<DispatchClaim> {
    return this.#exclusively(taskDir, dispatchId, () => this.#claims.claim(taskDir, dispatchId));
  }

  releaseDispatch(taskDir: string, dispatchId: string): Promise<void> {
    return this.#exclusively(taskDir, dispatchId, async () => {
      await this.#claims.release(taskDir, dispatchId);
      this.#reader.forget(taskDir, dispatchId);
    });
  }

  findClaim(taskDir: string, dispatchId: string): Promise<ClaimState | null> {
    return this.#runOne(taskDir, dispatchId, async () =>
      this.#claims.stateOf(await this.#reader.row(taskDir, dispatchId)),
    );
  }

  findClaims(taskDir: string, dispatchIds: readonly string[]): Promise<(ClaimState | null)[]> {
    return this.#run(async () => {
      assertTaskDir(taskDir);
      for (const dispatchId of dispatchIds) assertDispatchId(dispatchId);
      const rows = await this.#reader.rows(taskDir, dispatchIds);
      return rows.map((row) => (row === null ? null : this.#claims.stateOf(row)));
    });
  }

  breakClaim(taskDir: string, dispatchId: string): Promise<void> {
    return this.#runOne(taskDir, dispatchId, () => this.#claims.break(taskDir, dispatchId));
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope> {
    const copy = structuredClone(updates);
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.inOrder(taskDir, dispatchId, () => this.#table.update(taskDir, dispatchId, copy)),
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
      return this.#table.envelopes(taskDir);
    });
  }

  listDispatches(options: ListDispatchesOptions = {}): Promise<DispatchPage> {
    return this.#run(() => {
      if (options.taskDir !== undefined) assertTaskDir(options.taskDir);
      return this.#table.list(options);
    });
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null> {
    return this.#runOne(taskDir, dispatchId, () => this.#table.get(taskDir, dispatchId));
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
      await this.#table.putTask(taskDir, task);
      this.#watch.changed(taskDir);
    });
  }

  findTask(taskDir: string): Promise<TaskRecord | null> {
    return this.#run(() => {
      assertTaskDir(taskDir);
      return this.#table.task(taskDir);
    });
  }

  listTasks(): Promise<TaskListing[]> {
    return this.#run(() => this.#table.tasks());
  }

  /** Searches all strings in an event's data but encoded bytes for words, as `splitWords` splits them; ignores case and accents. */
  searchEvents(query: string, options: SearchEventsOptions = {}): Promise<SearchHit[]> {
    return this.#run(() => {
      assertScope(options);
      return searchEvents(this.#table, this.#reader, query, options);
    });
  }

  watch(scope: WatchScope, onChange: () => void): Promise<StopWatching> {
    return this.#run(async () => {
      assertScope(scope);
      const stop = await this.#watch.watch(scope, onChange);
      const { taskDir, dispatchId } = scope;
      if (taskDir === undefined || dispatchId === undefined) return stop;
      const [row] = await this.#reader.rows(taskDir, [dispatchId]);
      if (row !== null) return stop;
      stop();
      throw dispatchNotFound(taskDir, dispatchId);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): Promise<void> {
    return this.#changeOne(taskDir, dispatchId, () =>
      this.#writer.exclusively(taskDir, dispatchId, async () => {
        await this.#claims.remove(taskDir, dispatchId);
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
      const ids = dispatchId === undefined ? await this.#table.misplaced(taskDir) : [dispatchId];
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

  findRemains(scope: RemainsScope = {}): Promise<string[]> {
    return this.#run(() => {
      if (scope.taskDir !== undefined) assertTaskDir(scope.taskDir);
      return findRemains(this.#server, this.#table, scope);
    });
  }

  removeRemains(): Promise<string[]> {
    return this.#run(() => removeRemains(this.#server));
  }

  getServer(): Promise<StoreServer> {
    return this.#run(async () => {
      await this.#server.repeatableCommand(['PING']);
      return { name: this.#server.name, version: this.#server.version };
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    // Without an answer of the server, everything is cut, and the claims expire.
    const cancel = this.#clock.after(closeMs, () => this.#server.cut());
    this.#watch.close();
    try {
      await Promise.allSettled(this.#underWay);
      await this.#claims.end();
    } catch {
      // The server is away. It ends the lease of this opening.
    }
    cancel();
    this.#server.cut();
  }

  #renewal(): RenewalSetup {
    return { server: this.#server, claims: this.#claims, reader: this.#reader };
  }

  /** As `#runOne`, for a change, of which listeners are notified. */
  #changeOne<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#runOne(taskDir, dispatchId, async () => {
      const result = await work();
      this.#watch.changed(taskDir, dispatchId);
      return result;
    });
  }

  #exclusively<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#runOne(taskDir, dispatchId, () => this.#writer.exclusively(taskDir, dispatchId, work));
  }

  #runOne<T>(taskDir: string, dispatchId: string, work: () => Promise<T>): Promise<T> {
    return this.#run(() => {
      assertDispatchPath(taskDir, dispatchId);
      return work();
    });
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw storeClosed(this.#server.name);
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
      throw toStoreError(error, this.#server.name);
    }
  }
}

function assertScope({ taskDir, dispatchId }: WatchScope): void {
  if (taskDir !== undefined) assertTaskDir(taskDir);
  if (dispatchId !== undefined) assertDispatchId(dispatchId);
}
