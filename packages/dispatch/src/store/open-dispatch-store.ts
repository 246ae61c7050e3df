import {
  type CapturedEvent,
  createIdSource,
  type DispatchEnvelope,
  type EventDataSchemas,
  type IdSource,
  type TaskRecord,
} from '@hansard/events';
import {
  assertTaskDir,
  contractVersion,
  type DispatchListing,
  type DispatchStoreProvider,
  describeContractProblem,
  type SearchEventsOptions,
  type SearchHit,
  type StoreCapabilities,
  StoreError,
  type StoreRepair,
  type TaskListing,
} from '@hansard/provider';
import { type Clock, systemClock } from '../async/clock.ts';
import { Notifiers } from '../async/notifier.ts';
import { assertCount } from '../check-arguments.ts';
import { ClaimedDispatch, defaultHolder } from './claimed-dispatch.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import type { DispatchLog } from './dispatch-log.ts';
import type { DispatchStore } from './dispatch-store.ts';
import { DispatchWriters } from './dispatch-writers.ts';
import { checkTask, newEnvelope } from './envelope-intake.ts';
import { EventIntake } from './event-intake.ts';
import type { StoreContext } from './store-context.ts';
import { dispatchNotFound, StoredDispatch } from './stored-dispatch.ts';
import { WriteOrder } from './write-order.ts';

export interface DispatchStoreOptions {
  readonly clock?: Clock;
  /** Mints dispatch and event ids. Absent: ULIDs that only grow (D5). */
  readonly createId?: IdSource;
  /** Schemas for the data of further event types, by type. The types of Hansard keep theirs. */
  readonly schemas?: EventDataSchemas;
  /** Takes out what must not be recorded. Its event is its own to change; what it gives back is checked again. */
  readonly redact?: (event: CapturedEvent) => CapturedEvent;
  /** How often a follower looks for new events in a store that can't watch. Absent: 250. */
  readonly pollIntervalMs?: number;
}

/**
 * Opens a provider as a {@link DispatchStore}, with its checks and followers. Reads and writes nothing by itself.
 * @throws STORE_CONTRACT_VERSION where the provider implements another version of the contract
 */
export function openDispatchStore(
  provider: DispatchStoreProvider,
  options: DispatchStoreOptions = {},
): DispatchStore {
  assertContract(provider);
  return new CheckedStore(provider, options);
}

function assertContract({ contract }: { readonly contract: unknown }): void {
  const problem = describeContractProblem(contract);
  if (problem === null) return;
  throw new StoreError('STORE_CONTRACT_VERSION', `The store ${problem}`, {
    details: { contract, expected: contractVersion },
  });
}

class CheckedStore implements DispatchStore {
  readonly capabilities: StoreCapabilities;
  readonly #provider: DispatchStoreProvider;
  readonly #context: StoreContext;
  readonly #taskWrites = new WriteOrder();
  /** The dispatches that are being created, claimed or deleted. */
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;
  #isClosed = false;

  constructor(provider: DispatchStoreProvider, options: DispatchStoreOptions) {
    const { clock = systemClock, schemas, redact } = options;
    const createId = options.createId ?? createIdSource({ now: () => clock.now() });
    this.capabilities = provider.capabilities;
    this.#provider = provider;
    this.#context = {
      provider,
      clock,
      createId,
      intake: new EventIntake({ clock, createId, schemas, redact }),
      notifiers: new Notifiers(),
      pollIntervalMs: options.pollIntervalMs ?? 250,
      writers: new DispatchWriters(),
      begin: (taskDir, dispatch, writer) => this.#begin(taskDir, dispatch, writer),
      isClosed: () => this.#isClosed,
      assertOpen: () => this.#assertOpen(),
    };
  }

  async beginDispatch(
    taskDir: string,
    dispatch: NewDispatch,
    options: WriterOptions = {},
  ): Promise<Dispatch> {
    this.#assertOpen();
    assertTaskDir(taskDir);
    return this.#begin(taskDir, dispatch, options);
  }

  openDispatch(
    taskDir: string,
    dispatchId: string,
    options: WriterOptions & { readonly write: true },
  ): Promise<Dispatch>;
  openDispatch(taskDir: string, dispatchId: string): Promise<DispatchLog>;
  async openDispatch(
    taskDir: string,
    dispatchId: string,
    options?: WriterOptions & { readonly write: true },
  ): Promise<Dispatch | DispatchLog> {
    this.#assertOpen();
    if (options?.write === true) return this.#claim(taskDir, dispatchId, options);
    const envelope = await this.#provider.getDispatchEnvelope(taskDir, dispatchId);
    if (envelope === null) throw dispatchNotFound(taskDir, dispatchId);
    return new StoredDispatch(this.#context, taskDir, envelope);
  }

  async getDispatchEnvelopes(taskDir: string): Promise<DispatchEnvelope[]> {
    this.#assertOpen();
    return this.#provider.getDispatchEnvelopes(taskDir);
  }

  async listDispatches(taskDir: string): Promise<DispatchListing[]> {
    this.#assertOpen();
    const provider = this.#provider;
    if (provider.listDispatches !== undefined) return provider.listDispatches(taskDir);
    const envelopes = await provider.getDispatchEnvelopes(taskDir);
    return envelopes.map((envelope) => ({ dispatchId: envelope.dispatchId, envelope }));
  }

  async getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null> {
    this.#assertOpen();
    return this.#provider.getDispatchEnvelope(taskDir, dispatchId);
  }

  async getDispatchEvents(taskDir: string, dispatchId: string): Promise<CapturedEvent[]> {
    this.#assertOpen();
    return this.#provider.getDispatchEvents(taskDir, dispatchId);
  }

  async getRecentEvents(taskDir: string, dispatchId: string, count: number): Promise<CapturedEvent[]> {
    this.#assertOpen();
    assertCount('count', count, 0);
    return this.#provider.getRecentEvents(taskDir, dispatchId, count);
  }

  async renderSessionView(taskDir: string, dispatchId: string): Promise<string> {
    const envelope = await this.getDispatchEnvelope(taskDir, dispatchId);
    if (envelope === null) throw dispatchNotFound(taskDir, dispatchId);
    const events = await this.getDispatchEvents(taskDir, dispatchId);
    // Loaded when it is needed: most programs that open a store render nothing.
    const { renderSessionView, sessionView } = await import('@hansard/views');
    return renderSessionView(sessionView(envelope, events));
  }

  async putTask(taskDir: string, task: TaskRecord): Promise<void> {
    this.#assertOpen();
    const record = checkTask(task);
    await this.#taskWrites.run(taskDir, () => this.#provider.putTask(taskDir, record));
  }

  async getTask(taskDir: string): Promise<TaskRecord | null> {
    this.#assertOpen();
    return this.#provider.getTask(taskDir);
  }

  async listTasks(): Promise<TaskListing[]> {
    this.#assertOpen();
    return this.#provider.listTasks();
  }

  async searchEvents(taskDir: string, query: string, options?: SearchEventsOptions): Promise<SearchHit[]> {
    this.#assertOpen();
    if (options?.limit !== undefined) assertCount('limit', options.limit, 1);
    const provider = this.#provider;
    if (!provider.capabilities.search || provider.searchEvents === undefined)
      unsupported('search', 'read the events and filter them, or use a store with search');
    return provider.searchEvents(taskDir, query, options);
  }

  async deleteDispatch(taskDir: string, dispatchId: string): Promise<void> {
    this.#assertOpen();
    const provider = this.#provider;
    if (!provider.capabilities.deleteDispatch || provider.deleteDispatch === undefined)
      unsupported('deleteDispatch', 'use a store that can delete dispatches');
    const { writers, notifiers } = this.#context;
    writers.reserve(taskDir, dispatchId, 'its deletion');
    try {
      await this.#untilDone(async () => provider.deleteDispatch?.(taskDir, dispatchId));
    } finally {
      writers.remove(taskDir, dispatchId);
    }
    notifiers.notify(taskDir, dispatchId);
  }

  async getRepairs(): Promise<StoreRepair[]> {
    this.#assertOpen();
    return this.#provider.getRepairs?.() ?? [];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #begin(taskDir: string, dispatch: NewDispatch, options: WriterOptions): Promise<Dispatch> {
    const { createId, clock } = this.#context;
    const envelope = newEnvelope(taskDir, dispatch, createId, options.now ?? (() => clock.now()));
    const { dispatchId } = envelope;
    const { holder = defaultHolder } = options;
    return this.#holding(taskDir, dispatchId, holder, async () => {
      await this.#provider.createDispatch(taskDir, envelope);
      return new ClaimedDispatch(this.#context, taskDir, envelope, options, true);
    });
  }

  #claim(taskDir: string, dispatchId: string, options: WriterOptions): Promise<Dispatch> {
    const { holder = defaultHolder } = options;
    return this.#holding(taskDir, dispatchId, holder, async () => {
      const { envelope } = await this.#provider.claimDispatch(taskDir, dispatchId);
      return new ClaimedDispatch(this.#context, taskDir, envelope, options, false);
    });
  }

  /** Makes the one object that writes a dispatch in this process. */
  async #holding(
    taskDir: string,
    dispatchId: string,
    holder: string,
    make: () => Promise<ClaimedDispatch>,
  ): Promise<Dispatch> {
    const { writers } = this.#context;
    writers.reserve(taskDir, dispatchId, holder);
    try {
      return await this.#untilDone(async () => {
        const dispatch = await make();
        writers.set(taskDir, dispatchId, dispatch);
        return dispatch;
      });
    } catch (error) {
      writers.remove(taskDir, dispatchId);
      throw error;
    }
  }

  /** What `close` waits for. */
  async #untilDone<T>(work: () => Promise<T>): Promise<T> {
    const done = work();
    this.#underWay.add(done);
    try {
      return await done;
    } finally {
      this.#underWay.delete(done);
    }
  }

  async #close(): Promise<void> {
    // `#closing` is set by the next turn, when everything else looks at it.
    await null;
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    await this.#context.writers.disposeAll();
    this.#isClosed = true;
    this.#context.notifiers.notifyAll();
    await this.#taskWrites.settled();
    await this.#provider.close();
  }

  #assertOpen(): void {
    if (this.#closing !== null)
      throw new StoreError('STORE_CLOSED', 'The store is closed; open it again to use it.');
  }
}

function unsupported(capability: keyof StoreCapabilities, instead: string): never {
  throw new StoreError('STORE_UNSUPPORTED', `This store has no ${capability}; ${instead}.`, {
    details: { capability },
  });
}
