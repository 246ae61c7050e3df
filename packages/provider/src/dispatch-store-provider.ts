import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import type { Awaitable } from './awaitable.ts';
import type { StoreCapabilities } from './store-capabilities.ts';
import type { StoreError } from './store-error.ts';

/**
 * Keeps dispatches: an envelope and a list of events each, below a task (D10, D13).
 *
 * Who calls: the facade of `@hansard/dispatch`. Its arguments are valid when they arrive: envelopes, events and tasks
 * are checked, ids and times are minted, and every value is one that JSON holds unchanged. What is left to a store is
 * what only it can know: what exists, what is taken, and what would leave its root.
 *
 * The rules, each with cases in `@hansard/store-conformance`:
 *
 * 1. Creating what exists, or touching what does not, is a coded error. Nothing is dropped in silence.
 * 2. `appendEvents` is all or nothing. Once an append returned, its events survive what `capabilities.durability` says.
 * 3. Appending an event that is already there, equal in content, changes nothing, so a retry is safe. The same id with
 *    other content is an error.
 * 4. Reads give the events in append order, equal to what was appended, as copies that nobody else holds.
 * 5. What an append, the last N events and a page cost does not grow with the length of the dispatch; listing envelopes
 *    reads no events.
 * 6. Dispatches that run side by side never wait for each other, and two processes on one store never damage it. Each
 *    dispatch is claimed by at most one opening of the store, and only that opening writes to it: any other write is
 *    STORE_LOCKED and changes nothing. Reading needs no claim.
 * 7. A store that was killed at any byte opens again with all that was acknowledged; a torn last record is repaired and
 *    the repair is reported; other damage is STORE_CORRUPT with file and offset, never a shorter log.
 * 8. A `taskDir` or `dispatchId` that would leave the root is refused: see `assertTaskDir` and `assertDispatchId`.
 * 9. After `close` every call throws STORE_CLOSED, except `close` itself, which may be called again.
 *
 * Every method throws STORE_CLOSED, STORE_INVALID_PATH and STORE_UNAVAILABLE where they apply; those that read stored
 * data also STORE_CORRUPT. A method that answers with a promise rejects with the same codes.
 */
export interface DispatchStoreProvider {
  readonly capabilities: StoreCapabilities;

  /**
   * Creates a dispatch. When it returns, the dispatch is in every listing. The task needs no record. A dispatch that is
   * created as `running` is claimed by this opening; one with another status is not claimed.
   * @throws STORE_DISPATCH_EXISTS
   */
  createDispatch(taskDir: string, envelope: DispatchEnvelope): Awaitable<void>;

  /**
   * Claims a dispatch, whatever its status, and returns its envelope. This opening may write to the dispatch until
   * `releaseDispatch` or `close`, and no other opening may; a change of the status does not end the claim. Claiming a
   * dispatch again changes nothing, and one release releases it. The claim of a process that has exited is free.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it; the message names the owner by
   * its process id
   */
  claimDispatch(taskDir: string, dispatchId: string): Awaitable<DispatchClaim>;

  /**
   * Releases a claimed dispatch, whatever its status, so that another opening can claim it. A dispatch that this opening
   * has not claimed, or that does not exist, is left alone.
   */
  releaseDispatch(taskDir: string, dispatchId: string): Awaitable<void>;

  /**
   * Changes fields of an envelope and leaves the others as they are. `null` is a value: it is written. Returns a copy of
   * the changed envelope. An update never claims, whatever status it sets.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where this opening has not claimed the dispatch
   */
  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Awaitable<DispatchEnvelope>;

  /**
   * Adds one event at the end. A dispatch that ended still takes events (a late notice, a verdict). An append never
   * claims.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_EVENT_CONFLICT (the id is there with other content), STORE_LOCKED where this
   * opening has not claimed the dispatch
   */
  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): Awaitable<void>;

  /**
   * Adds several events at the end, all or none; those that are already there with the same content are passed over.
   * An empty list changes nothing, but needs a claim. Two events of the list with one id: equal ones count once, others are a conflict.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_EVENT_CONFLICT, STORE_LOCKED where this opening has not claimed the dispatch
   */
  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): Awaitable<void>;

  /** All envelopes of a task by `startedAt`, then `dispatchId`; an empty list for a task without dispatches. */
  getDispatchEnvelopes(taskDir: string): Awaitable<DispatchEnvelope[]>;

  /** One envelope, or null where there is none. */
  getDispatchEnvelope(taskDir: string, dispatchId: string): Awaitable<DispatchEnvelope | null>;

  /**
   * Every event of a dispatch, in append order.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getDispatchEvents(taskDir: string, dispatchId: string): Awaitable<CapturedEvent[]>;

  /**
   * The last `count` events (a whole number from 0), oldest first; all of them where there are fewer.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Awaitable<CapturedEvent[]>;

  /**
   * One page of events. See {@link ReadEventsOptions} and {@link EventPage}.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR (`after` lies beyond the last event)
   */
  readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): Awaitable<EventPage>;

  /** Writes the record of a task, new or changed. */
  putTask(taskDir: string, task: TaskRecord): Awaitable<void>;

  /** The record of a task, or null where it has none. */
  getTask(taskDir: string): Awaitable<TaskRecord | null>;

  /** Every task that has a record or a dispatch, by `taskDir`. One whose record can't be read is listed with the reason. */
  listTasks(): Awaitable<TaskListing[]>;

  /** Finishes what is under way, releases every claim and gives back files and connections. Safe to call twice. */
  close(): Awaitable<void>;

  /**
   * Events of a task that contain every word of the query, newest last; of more than `limit` the newest. With
   * `capabilities.search`.
   * Which texts are searched and how words are told apart is the store's to document.
   */
  searchEvents?(taskDir: string, query: string, options?: SearchEventsOptions): Awaitable<SearchHit[]>;

  /**
   * Calls `onChange` soon after events were appended to the dispatch or its envelope changed, by any process. It says
   * that there may be something new, not what: the listener reads. Calls may be merged. With `capabilities.watch`.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  watchEvents?(taskDir: string, dispatchId: string, onChange: () => void): Awaitable<StopWatching>;

  /**
   * Removes a dispatch with its events and its claim. It needs no claim. Nothing calls it unasked. With
   * `capabilities.deleteDispatch`.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it
   */
  deleteDispatch?(taskDir: string, dispatchId: string): Awaitable<void>;

  /**
   * What the store repaired since it was opened, oldest first (rule 7). A store that has nothing to repair leaves it out.
   */
  getRepairs?(): Awaitable<StoreRepair[]>;
}

/** The right of one opening of a store to write a dispatch. */
export interface DispatchClaim {
  /** The envelope as it is when the claim is made. */
  readonly envelope: DispatchEnvelope;
}

export interface ReadEventsOptions {
  /** The position of the last event already seen; the page starts after it. Absent or -1: from the beginning. */
  readonly after?: number;
  /** The most events in the page, at least 1. Absent: 1,000. */
  readonly limit?: number;
  /**
   * How many of the last events to read instead: a whole number from 0. All of them where there are fewer. With 0 the
   * page is empty, and its `first` is the number of events. Never together with `after` or `limit`.
   */
  readonly last?: number;
}

/** A page of events. Positions count from 0 in append order. */
export interface EventPage {
  readonly events: CapturedEvent[];
  /** The position of the first event of the page; with an empty page, the position that the next event will have. */
  readonly first: number;
  /**
   * What to pass as `after` to read on: the position of the last event of the page. For an empty page `after`, or with
   * `last` the position of the last event of the dispatch (-1 where it has none).
   */
  readonly next: number;
}

export interface TaskListing {
  readonly taskDir: string;
  /** Null where the task has dispatches but no record, and where its record can't be read. */
  readonly task: TaskRecord | null;
  /** Why the record can't be read: STORE_CORRUPT or STORE_UNAVAILABLE, as `getTask` throws it. */
  readonly error?: StoreError;
}

export interface SearchEventsOptions {
  readonly dispatchId?: string;
  /** The most hits, at least 1. Absent: 100. */
  readonly limit?: number;
}

export interface SearchHit {
  readonly dispatchId: string;
  readonly position: number;
  readonly event: CapturedEvent;
}

export type StopWatching = () => void;

/** Something that a store found damaged after a crash, and made whole again. */
export interface StoreRepair {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** Where: a file, a table. */
  readonly place: string;
  /** The byte from which on the place was damaged. */
  readonly offset: number;
  /** How many bytes of an unfinished record were taken away; a copy is never kept of what was not acknowledged. */
  readonly removedBytes: number;
  readonly reason: string;
}
