import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import {
  assertDispatchId,
  assertTaskDir,
  compareByStart,
  type DispatchClaim,
  type DispatchListing,
  type DispatchPage,
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchStoreProvider,
  type EventPage,
  EventWords,
  isInternalTask,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  storeErrors,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import {
  assertDispatchPath,
  ChangeListeners,
  countOfPage,
  dispatchExists,
  dispatchNotClaimed,
  dispatchNotFound,
  eventConflict,
  hasSameContent,
  knownEnvelope,
  knownTask,
  pageOfDispatches,
  pageRange,
  storeClosed,
} from '@hansard/store-kit';

export const memoryStoreCapabilities: StoreCapabilities = {
  durability: 'memory',
  writers: 'process',
  search: 'scan',
  watch: true,
  deleteDispatch: true,
  rewrite: true,
  integrity: 'none',
};

/** Creates an empty store. Its data is lost when the store is closed or the object is released. */
export function createMemoryStore(): MemoryStore {
  return new MemoryStore();
}

interface Dispatch {
  /** JSON, for the same reason as the lines of the log. */
  envelope: string;
  log: EventLog;
  isClaimed: boolean;
  /** The number of its claims. */
  epoch: number;
}

/** The store contract in memory. Every method is synchronous. Created by {@link createMemoryStore}. */
export class MemoryStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities = memoryStoreCapabilities;
  /** By task, then by dispatch. */
  readonly #dispatches = new Map<string, Map<string, Dispatch>>();
  readonly #tasks = new Map<string, string>();
  readonly #listeners = new ChangeListeners();
  #closed = false;

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    const { dispatchId } = envelope;
    const dispatches = this.#dispatchesOf(taskDir);
    assertDispatchId(dispatchId);
    if (dispatches.has(dispatchId)) throw dispatchExists(taskDir, dispatchId);
    const dispatch = {
      envelope: JSON.stringify(envelope),
      log: new EventLog(),
      isClaimed: envelope.status === 'running',
      epoch: envelope.status === 'running' ? 1 : 0,
    };
    this.#dispatches.set(taskDir, dispatches.set(dispatchId, dispatch));
    this.#listeners.notify(taskDir, dispatchId);
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    const envelope = envelopeOf(dispatch);
    if (!dispatch.isClaimed) dispatch.epoch += 1;
    dispatch.isClaimed = true;
    return { envelope, epoch: dispatch.epoch };
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const dispatch = this.#find(taskDir, dispatchId);
    if (dispatch !== null) dispatch.isClaimed = false;
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    const dispatch = this.#claimed(taskDir, dispatchId);
    dispatch.envelope = JSON.stringify({ ...envelopeOf(dispatch), ...updates });
    this.#listeners.notify(taskDir, dispatchId);
    return envelopeOf(dispatch);
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): number {
    const [position] = this.appendEvents(taskDir, dispatchId, [event]);
    return position as number;
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): number[] {
    const dispatch = this.#claimed(taskDir, dispatchId);
    const positions = dispatch.log.append(events);
    this.#listeners.notify(taskDir, dispatchId);
    return positions;
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    const envelopes = [...this.#dispatchesOf(taskDir).values()].map(envelopeOf);
    return envelopes.sort(compareByStart);
  }

  listDispatches(options: ListDispatchesOptions = {}): DispatchPage {
    this.#enter(options.taskDir);
    return pageOfDispatches(this.#list(options), options);
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    const dispatch = this.#find(taskDir, dispatchId);
    return dispatch === null ? null : envelopeOf(dispatch);
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    const { log } = this.#dispatch(taskDir, dispatchId);
    return log.read(0, log.length);
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    const { log } = this.#dispatch(taskDir, dispatchId);
    return log.read(Math.max(0, log.length - count), log.length);
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): EventPage {
    const { log } = this.#dispatch(taskDir, dispatchId);
    const { first, end } = pageRange(log.length, options);
    const to = options.last === undefined ? log.endOfPage(first, end) : end;
    return { events: log.read(first, to), first, next: to - 1 };
  }

  putTask(taskDir: string, task: TaskRecord): void {
    // A record of a newer version is not replaced.
    this.findTask(taskDir);
    this.#tasks.set(taskDir, JSON.stringify(task));
    this.#listeners.notify(taskDir);
  }

  findTask(taskDir: string): TaskRecord | null {
    this.#enter(taskDir);
    const record = this.#tasks.get(taskDir);
    return record === undefined
      ? null
      : knownTask(JSON.parse(record), `The record of task ${taskDir}`, { taskDir });
  }

  listTasks(): TaskListing[] {
    this.#enter();
    const taskDirs = new Set([...this.#tasks.keys(), ...this.#dispatches.keys()]);
    return [...taskDirs]
      .filter((taskDir) => !isInternalTask(taskDir))
      .sort(compare)
      .map((taskDir) => {
        try {
          return { taskDir, task: this.findTask(taskDir) };
        } catch (error) {
          if (!storeErrors.is(error)) throw error;
          return { taskDir, task: null, error };
        }
      });
  }

  searchEvents(query: string, { taskDir, dispatchId, limit = 100 }: SearchEventsOptions = {}): SearchHit[] {
    this.#enter(taskDir);
    if (dispatchId !== undefined) assertDispatchId(dispatchId);
    const words = new EventWords(query);
    const hits: SearchHit[] = [];
    for (const [task, dispatches] of this.#tasksIn(taskDir)) {
      for (const [id, { log }] of dispatches) {
        if (dispatchId !== undefined && id !== dispatchId) continue;
        for (const [position, event] of log.read(0, log.length).entries())
          if (words.areIn(event)) hits.push({ taskDir: task, dispatchId: id, position, event });
      }
    }
    return hits.sort(byTime).slice(-limit);
  }

  watch(scope: WatchScope, onChange: () => void): StopWatching {
    const { taskDir, dispatchId } = scope;
    this.#enter(taskDir);
    if (taskDir !== undefined && dispatchId !== undefined) this.#dispatch(taskDir, dispatchId);
    return this.#listeners.add(scope, onChange);
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    this.#dispatch(taskDir, dispatchId);
    const dispatches = this.#dispatchesOf(taskDir);
    dispatches.delete(dispatchId);
    this.#listeners.notify(taskDir, dispatchId);
    if (dispatches.size === 0) this.#dispatches.delete(taskDir);
  }

  rewriteDispatch(taskDir: string, dispatchId: string, rewrite: DispatchRewrite): DispatchRewritten {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    const envelope = JSON.stringify(rewrite.envelope(envelopeOf(dispatch)));
    const log = dispatch.log.rewritten(rewrite);
    dispatch.envelope = envelope;
    dispatch.log = log;
    this.#listeners.notify(taskDir, dispatchId);
    return { remains: [] };
  }

  close(): void {
    this.#closed = true;
    this.#listeners.stopAll();
    this.#tasks.clear();
    this.#dispatches.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #enter(taskDir?: string): void {
    if (this.#closed) throw storeClosed('in memory');
    if (taskDir !== undefined) assertTaskDir(taskDir);
  }

  #dispatchesOf(taskDir: string): Map<string, Dispatch> {
    this.#enter(taskDir);
    return this.#dispatches.get(taskDir) ?? new Map<string, Dispatch>();
  }

  /** The tasks that have dispatches, or one of them. */
  #tasksIn(taskDir: string | undefined): Iterable<[string, Map<string, Dispatch>]> {
    return taskDir === undefined ? this.#dispatches : [[taskDir, this.#dispatchesOf(taskDir)]];
  }

  *#list({ taskDir, internal = false }: ListDispatchesOptions): Generator<DispatchListing> {
    for (const [task, dispatches] of this.#tasksIn(taskDir)) {
      if (taskDir === undefined && isInternalTask(task) !== internal) continue;
      for (const [dispatchId, dispatch] of dispatches) {
        let envelope: DispatchEnvelope;
        try {
          envelope = envelopeOf(dispatch);
        } catch (error) {
          if (!storeErrors.is(error)) throw error;
          yield { taskDir: task, dispatchId, envelope: null, lastActiveAt: null, error };
          continue;
        }
        const [last] = dispatch.log.read(Math.max(0, dispatch.log.length - 1), dispatch.log.length);
        const lastActiveAt = last === undefined ? envelope.startedAt : last.timestamp;
        yield { taskDir: task, dispatchId, envelope, lastActiveAt };
      }
    }
  }

  #claimed(taskDir: string, dispatchId: string): Dispatch {
    const dispatch = this.#dispatch(taskDir, dispatchId);
    if (dispatch.isClaimed) return dispatch;
    throw dispatchNotClaimed(taskDir, dispatchId);
  }

  #dispatch(taskDir: string, dispatchId: string): Dispatch {
    const dispatch = this.#find(taskDir, dispatchId);
    if (dispatch !== null) return dispatch;
    throw dispatchNotFound(taskDir, dispatchId);
  }

  #find(taskDir: string, dispatchId: string): Dispatch | null {
    this.#enter();
    assertDispatchPath(taskDir, dispatchId);
    return this.#dispatches.get(taskDir)?.get(dispatchId) ?? null;
  }
}

function byTime({ event: one }: SearchHit, { event: other }: SearchHit): number {
  return compare(one.timestamp ?? '', other.timestamp ?? '');
}

function envelopeOf({ envelope }: Dispatch): DispatchEnvelope {
  const value = JSON.parse(envelope) as DispatchEnvelope;
  return knownEnvelope(value, `Dispatch ${value.dispatchId}`, { dispatchId: value.dispatchId });
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The events of one dispatch as lines of JSON, so that every read creates new objects. */
class EventLog {
  readonly #lines: string[] = [];
  readonly #positions = new Map<string, number>();

  get length(): number {
    return this.#lines.length;
  }

  /** All or none. @returns the position of each event @throws STORE_EVENT_CONFLICT */
  append(events: readonly CapturedEvent[]): number[] {
    const added = new Map<string, string>();
    for (const event of events) {
      const line = JSON.stringify(event);
      const stored = added.get(event.id) ?? this.#lines[this.#positions.get(event.id) ?? -1];
      if (stored === undefined) added.set(event.id, line);
      else if (!hasSameContent(stored, line)) throw eventConflict(event.id);
    }
    for (const [id, line] of added) this.#positions.set(id, this.#lines.push(line) - 1);
    return events.map(({ id }) => this.#positions.get(id) as number);
  }

  /** A log with the new forms of the events, and the notice. */
  rewritten({ event, notice }: Pick<DispatchRewrite, 'event' | 'notice'>): EventLog {
    const log = new EventLog();
    for (const line of this.#lines) log.append([event(JSON.parse(line) as CapturedEvent)]);
    if (notice !== undefined) log.append([notice()]);
    return log;
  }

  /** The end of a page that begins at `start` and has at most the events before `end`. */
  endOfPage(start: number, end: number): number {
    const lines = this.#lines;
    return start + countOfPage(lines.slice(start, end).map((line) => line.length));
  }

  /** The events from position `start` to before `end`. */
  read(start: number, end: number): CapturedEvent[] {
    return this.#lines.slice(start, end).map((line) => JSON.parse(line) as CapturedEvent);
  }
}
