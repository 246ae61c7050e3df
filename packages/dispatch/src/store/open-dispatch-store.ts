import {
  type CapturedEvent,
  createIdSource,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type EventDataSchemas,
  type IdSource,
  type NewEvent,
  type TaskRecord,
  toNarrative,
} from '@hansard/events';
import {
  type Awaitable,
  assertTaskDir,
  type DispatchListing,
  type DispatchStoreProvider,
  type EventPage,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type SearchHit,
  type StoreCapabilities,
  StoreError,
  type StoreRepair,
  type TaskListing,
} from '@hansard/provider';
import { Bells } from '../async/bell.ts';
import { type Clock, systemClock } from '../async/clock.ts';
import { assertCount, assertCursor } from '../check-arguments.ts';
import { dispatchKey } from '../dispatch-key.ts';
import { countEvents } from './count-events.ts';
import type { DispatchStore, NewDispatch } from './dispatch-store.ts';
import { checkTask, checkUpdates, newEnvelope } from './envelope-intake.ts';
import { EventIntake } from './event-intake.ts';
import { type FollowItem, type FollowOptions, follow } from './follow.ts';
import { isPromise } from './is-promise.ts';
import { KnownFidelities } from './known-fidelities.ts';
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

/** Puts a provider behind the checks and followers of a {@link DispatchStore}. Reads and writes nothing by itself. */
export function openDispatchStore(
  provider: DispatchStoreProvider,
  options: DispatchStoreOptions = {},
): DispatchStore {
  return new CheckedStore(provider, options);
}

class CheckedStore implements DispatchStore {
  readonly capabilities: StoreCapabilities;
  readonly #provider: DispatchStoreProvider;
  readonly #clock: Clock;
  readonly #createId: IdSource;
  readonly #pollIntervalMs: number;
  readonly #intake: EventIntake;
  readonly #fidelities: KnownFidelities;
  readonly #writes = new WriteOrder();
  readonly #bells = new Bells();
  readonly #runningHere = new Set<string>();
  #closing: Promise<void> | null = null;

  constructor(provider: DispatchStoreProvider, options: DispatchStoreOptions) {
    const { clock = systemClock, schemas, redact } = options;
    this.capabilities = provider.capabilities;
    this.#provider = provider;
    this.#clock = clock;
    this.#createId = options.createId ?? createIdSource({ now: () => clock.now() });
    this.#pollIntervalMs = options.pollIntervalMs ?? 250;
    this.#fidelities = new KnownFidelities(provider);
    this.#intake = new EventIntake({ clock, createId: this.#createId, schemas, redact });
  }

  async createDispatch(taskDir: string, dispatch: NewDispatch): Promise<DispatchEnvelope> {
    this.#assertOpen();
    assertTaskDir(taskDir);
    const envelope = newEnvelope(taskDir, dispatch, this.#createId, this.#clock);
    const { dispatchId } = envelope;
    const key = dispatchKey(taskDir, dispatchId);
    const ranBefore = this.#runningHere.has(key);
    // Before the write: a listing may have the dispatch before the provider has answered.
    this.#runningHere.add(key);
    try {
      await this.#writes.run(taskDir, dispatchId, () => this.#provider.createDispatch(taskDir, envelope));
    } catch (error) {
      if (!ranBefore) this.#runningHere.delete(key);
      throw error;
    }
    this.#fidelities.note(taskDir, envelope);
    return envelope;
  }

  async updateDispatch(
    taskDir: string,
    dispatchId: string,
    updates: EnvelopeUpdates,
  ): Promise<DispatchEnvelope> {
    this.#assertOpen();
    const checked = checkUpdates(updates);
    const envelope = await this.#writes.run(taskDir, dispatchId, async () => {
      await this.#provider.updateDispatch(taskDir, dispatchId, checked);
      return this.#provider.getDispatchEnvelope(taskDir, dispatchId);
    });
    if (envelope === null) throw dispatchNotFound(taskDir, dispatchId);
    this.#fidelities.note(taskDir, envelope);
    if (checked.status === 'running') this.#runningHere.add(dispatchKey(taskDir, dispatchId));
    else if (checked.status !== undefined) this.#runningHere.delete(dispatchKey(taskDir, dispatchId));
    this.#bells.ring(taskDir, dispatchId);
    return envelope;
  }

  async appendEvent(taskDir: string, dispatchId: string, event: NewEvent): Promise<CapturedEvent> {
    this.#assertOpen();
    const captured = this.#intake.take(event);
    const written = this.#write(taskDir, dispatchId, (isFull) => {
      const recorded = isFull ? captured : toNarrative(captured);
      return after(this.#provider.appendEvent(taskDir, dispatchId, recorded), recorded);
    });
    const recorded = isPromise(written) ? await written : written;
    this.#bells.ring(taskDir, dispatchId);
    return recorded;
  }

  async appendEvents(
    taskDir: string,
    dispatchId: string,
    events: readonly NewEvent[],
  ): Promise<CapturedEvent[]> {
    this.#assertOpen();
    const captured = events.map((event) => this.#intake.take(event));
    const recorded = await this.#write(taskDir, dispatchId, (isFull) => {
      const written = isFull ? captured : captured.map((event) => toNarrative(event));
      return after(this.#provider.appendEvents(taskDir, dispatchId, written), written);
    });
    this.#bells.ring(taskDir, dispatchId);
    return recorded;
  }

  /** Writes events to a dispatch whose fidelity is known then; at once where nothing has to be waited for. */
  #write<T>(taskDir: string, dispatchId: string, write: (isFull: boolean) => Awaitable<T>): Awaitable<T> {
    return this.#writes.run(taskDir, dispatchId, () => {
      const fidelity = this.#fidelities.of(taskDir, dispatchId);
      return isPromise(fidelity)
        ? fidelity.then((read) => write(read === 'full'))
        : write(fidelity === 'full');
    });
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

  async readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): Promise<EventPage> {
    this.#assertOpen();
    if (options?.limit !== undefined) assertCount('limit', options.limit, 1);
    if (options?.after !== undefined) assertCursor(options.after);
    return this.#provider.readEvents(taskDir, dispatchId, options);
  }

  async countEvents(taskDir: string, dispatchId: string): Promise<number> {
    this.#assertOpen();
    return countEvents(this.#provider, taskDir, dispatchId);
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
    await this.#writes.run(taskDir, '', () => this.#provider.putTask(taskDir, record));
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
    await this.#writes.run(taskDir, dispatchId, () => provider.deleteDispatch?.(taskDir, dispatchId));
    this.#runningHere.delete(dispatchKey(taskDir, dispatchId));
    this.#fidelities.forget(taskDir, dispatchId);
    this.#bells.ring(taskDir, dispatchId);
  }

  async getRepairs(): Promise<StoreRepair[]> {
    this.#assertOpen();
    return this.#provider.getRepairs?.() ?? [];
  }

  follow(taskDir: string, dispatchId: string, options: FollowOptions = {}): AsyncIterable<FollowItem> {
    this.#assertOpen();
    if (options.after !== undefined) assertCursor(options.after);
    if (options.pageSize !== undefined) assertCount('pageSize', options.pageSize, 1);
    const source = {
      provider: this.#provider,
      bells: this.#bells,
      clock: this.#clock,
      pollIntervalMs: this.#pollIntervalMs,
      isClosed: () => this.#closing !== null,
    };
    return follow(source, taskDir, dispatchId, options);
  }

  isRunningHere(taskDir: string, dispatchId: string): boolean {
    return this.#runningHere.has(dispatchKey(taskDir, dispatchId));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    // `#closing` is set by the next turn, when the followers look at it.
    await null;
    this.#bells.ringAll();
    await this.#writes.settled();
    await this.#provider.close();
  }

  #assertOpen(): void {
    if (this.#closing !== null)
      throw new StoreError('STORE_CLOSED', 'The store is closed; open it again to use it.');
  }
}

/** A value that is there once something is done; now, where it is done now. */
function after<T>(done: Awaitable<void>, value: T): Awaitable<T> {
  return isPromise(done) ? done.then(() => value) : value;
}

function dispatchNotFound(taskDir: string, dispatchId: string): StoreError {
  return new StoreError(
    'STORE_DISPATCH_NOT_FOUND',
    `There is no dispatch ${dispatchId} in the task ${taskDir}; getDispatchEnvelopes lists those that are there.`,
    { details: { taskDir, dispatchId } },
  );
}

function unsupported(capability: keyof StoreCapabilities, instead: string): never {
  throw new StoreError('STORE_UNSUPPORTED', `This store has no ${capability}; ${instead}.`, {
    details: { capability },
  });
}
