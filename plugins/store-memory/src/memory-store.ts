import {
  assertDispatchId,
  assertTaskDir,
  type CapturedEvent,
  compareByStart,
  type DispatchClaim,
  type DispatchEnvelope,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  type EventPage,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  StoreError,
  type TaskListing,
  type TaskRecord,
} from '@hansard/provider';
import { dispatchExists, dispatchNotClaimed, dispatchNotFound } from './errors.ts';
import { EventLog } from './event-log.ts';
import { wordsOf, wordsOfEvent } from './event-words.ts';

export const memoryStoreCapabilities: StoreCapabilities = {
  durability: 'memory',
  writers: 'process',
  search: true,
  watch: true,
  deleteDispatch: true,
};

/** Makes an empty store that lives as long as the object does. */
export function createMemoryStore(): MemoryStore {
  return new MemoryStore();
}

interface Dispatch {
  /** JSON, for the same reason as the lines of the log. */
  envelope: string;
  readonly log: EventLog;
  readonly listeners: Set<() => void>;
  isClaimed: boolean;
}

/** The store contract in memory. Every method answers at once. Made by {@link createMemoryStore}. */
export class MemoryStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities = memoryStoreCapabilities;
  /** By task, then by dispatch. */
  readonly #dispatches = new Map<string, Map<string, Dispatch>>();
  readonly #tasks = new Map<string, string>();
  #closed = false;

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    const { dispatchId } = envelope;
    const dispatches = this.#dispatchesOf(taskDir);
    assertDispatchId(dispatchId);
    if (dispatches.has(dispatchId)) throw dispatchExists(taskDir, dispatchId);
    const dispatch = {
      envelope: JSON.stringify(envelope),
      log: new EventLog(),
      listeners: new Set<() => void>(),
      isClaimed: envelope.status === 'running',
    };
    this.#dispatches.set(taskDir, dispatches.set(dispatchId, dispatch));
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    dispatch.isClaimed = true;
    return { envelope: envelopeOf(dispatch) };
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const dispatches = this.#dispatchesOf(taskDir);
    assertDispatchId(dispatchId);
    const dispatch = dispatches.get(dispatchId);
    if (dispatch !== undefined) dispatch.isClaimed = false;
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    const dispatch = this.#claimed(taskDir, dispatchId);
    dispatch.envelope = JSON.stringify({ ...envelopeOf(dispatch), ...updates });
    notify(dispatch);
    return envelopeOf(dispatch);
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): void {
    this.appendEvents(taskDir, dispatchId, [event]);
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): void {
    const dispatch = this.#claimed(taskDir, dispatchId);
    dispatch.log.append(events);
    notify(dispatch);
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    const envelopes = [...this.#dispatchesOf(taskDir).values()].map(envelopeOf);
    return envelopes.sort(compareByStart);
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    const dispatches = this.#dispatchesOf(taskDir);
    assertDispatchId(dispatchId);
    const dispatch = dispatches.get(dispatchId);
    return dispatch === undefined ? null : envelopeOf(dispatch);
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    const { log } = this.#dispatch(taskDir, dispatchId);
    return log.read(0, log.length);
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    const { log } = this.#dispatch(taskDir, dispatchId);
    return log.read(Math.max(0, log.length - count), log.length);
  }

  readEvents(
    taskDir: string,
    dispatchId: string,
    { after = -1, limit = 1_000, last }: ReadEventsOptions = {},
  ): EventPage {
    const { log } = this.#dispatch(taskDir, dispatchId);
    if (last !== undefined) {
      const first = Math.max(0, log.length - last);
      return { events: log.read(first, log.length), first, next: log.length - 1 };
    }
    if (after >= log.length) {
      throw new StoreError(
        'STORE_INVALID_CURSOR',
        `Dispatch ${dispatchId} has ${log.length} events, none at position ${after}. Read from the beginning.`,
        { details: { taskDir, dispatchId, after } },
      );
    }
    const events = log.read(after + 1, after + 1 + limit);
    return { events, first: after + 1, next: after + events.length };
  }

  putTask(taskDir: string, task: TaskRecord): void {
    this.#enter(taskDir);
    this.#tasks.set(taskDir, JSON.stringify(task));
  }

  getTask(taskDir: string): TaskRecord | null {
    this.#enter(taskDir);
    return JSON.parse(this.#tasks.get(taskDir) ?? 'null') as TaskRecord | null;
  }

  listTasks(): TaskListing[] {
    this.#enter();
    const taskDirs = new Set([...this.#tasks.keys(), ...this.#dispatches.keys()]);
    return [...taskDirs].sort(compare).map((taskDir) => ({ taskDir, task: this.getTask(taskDir) }));
  }

  /** Words are runs of letters and digits, without regard to case, in any string of an event's data. */
  searchEvents(
    taskDir: string,
    query: string,
    { dispatchId, limit = 100 }: SearchEventsOptions = {},
  ): SearchHit[] {
    if (dispatchId !== undefined) assertDispatchId(dispatchId);
    const words = wordsOf(query);
    if (words.length === 0) return [];
    return this.getDispatchEnvelopes(taskDir)
      .filter((envelope) => dispatchId === undefined || envelope.dispatchId === dispatchId)
      .flatMap((envelope) =>
        this.getDispatchEvents(taskDir, envelope.dispatchId).map((event, position) => ({
          dispatchId: envelope.dispatchId,
          position,
          event,
        })),
      )
      .filter(({ event }) => {
        const found = wordsOfEvent(event);
        return words.every((word) => found.has(word));
      })
      .sort((left, right) => compare(left.event.timestamp, right.event.timestamp))
      .slice(-limit);
  }

  watchEvents(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    const { listeners } = this.#dispatch(taskDir, dispatchId);
    // A listener of its own for each call, so that the same function can watch twice.
    const listener = () => onChange();
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    const dispatches = this.#dispatchesOf(taskDir);
    dispatches.delete(dispatchId);
    notify(dispatch);
    if (dispatches.size === 0) this.#dispatches.delete(taskDir);
  }

  close(): void {
    this.#closed = true;
    for (const dispatches of this.#dispatches.values())
      for (const { listeners } of dispatches.values()) listeners.clear();
    this.#tasks.clear();
    this.#dispatches.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #enter(taskDir?: string): void {
    if (this.#closed) throw new StoreError('STORE_CLOSED', 'The store is closed. Create a new one to go on.');
    if (taskDir !== undefined) assertTaskDir(taskDir);
  }

  #dispatchesOf(taskDir: string): Map<string, Dispatch> {
    this.#enter(taskDir);
    return this.#dispatches.get(taskDir) ?? new Map<string, Dispatch>();
  }

  #claimed(taskDir: string, dispatchId: string): Dispatch {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    if (dispatch.isClaimed) return dispatch;
    throw dispatchNotClaimed(taskDir, dispatchId);
  }

  #dispatch(taskDir: string, dispatchId: string): Dispatch {
    const dispatches = this.#dispatchesOf(taskDir);
    assertDispatchId(dispatchId);
    const dispatch = dispatches.get(dispatchId);
    if (dispatch !== undefined) return dispatch;
    throw dispatchNotFound(taskDir, dispatchId);
  }
}

function envelopeOf({ envelope }: Dispatch): DispatchEnvelope {
  return JSON.parse(envelope) as DispatchEnvelope;
}

/** Calls the listeners when the write is done, so that one that throws does not fail it. */
function notify({ listeners }: Dispatch): void {
  for (const listener of listeners) {
    queueMicrotask(() => {
      if (listeners.has(listener)) listener();
    });
  }
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
