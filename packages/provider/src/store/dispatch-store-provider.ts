import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import type { Awaitable } from '../awaitable.ts';
import type { ContractVersion } from '../contract-version.ts';
import type { DispatchPage, ListDispatchesOptions } from './dispatch-listing.ts';
import type { SearchEventsOptions, SearchHit } from './search-text.ts';
import type { StoreCapabilities } from './store-capabilities.ts';
import type { StoreError } from './store-errors.ts';
import type { StopWatching, WatchScope } from './watch-scope.ts';

/**
 * Keeps dispatches: an envelope and a list of events each, below a task (D10, D13).
 *
 * The caller is the facade of `@hansard/dispatch`. Arguments are valid when they arrive: envelopes, events and tasks are
 * checked, ids and times are assigned, and JSON represents every value without change. The store checks only facts that
 * depend on its data: whether something exists, whether it is claimed, and whether a name would leave its root. Arguments belong
 * to the caller: the store does not change them, and copies what it keeps. The facade checks `contract` before any other member.
 * It reads `capabilities` at any time, and makes calls for different dispatches at the same time. No call has a signal or a time limit: a
 * store that can wait limits its own waiting and throws STORE_UNAVAILABLE; a synchronous one waits at most 100 ms. The facade alone
 * repeats calls: those whose error is a STORE_UNAVAILABLE that is `isTransient`. A store marks an error so only where the same call may be made again, whether
 * or not it had an effect.
 *
 * The rules, each with cases in `@hansard/store-conformance`:
 *
 * 1. To create an existing dispatch, or to use a missing one, is a coded error. Nothing is dropped silently.
 * 2. `appendEvents` is all or nothing. Once an append has returned, its events survive every failure that
 *    `capabilities.durability` covers.
 * 3. Appending a stored event again with equal content changes nothing, so a retry is safe. Its answer is the position at
 *    which the event is stored. The same id with different content is an error.
 * 4. Reads return events in append order, equal to the appended events including the order of their keys, as copies that only
 *    the caller has.
 * 5. The cost of an append, of the last N events and of a page does not grow with the length of the dispatch. Listing
 *    dispatches reads at most the last event of each.
 * 6. Parallel dispatches do not wait for each other, and two processes that use one store do not damage it. Each dispatch is
 *    claimed by at most one opening of the store, and only that opening writes to it: any other write is STORE_LOCKED and
 *    changes nothing. Reading needs no claim.
 * 7. After a kill at any byte, the store opens with every acknowledged event. A torn last record is repaired and the repair
 *    is reported. Other damage is STORE_CORRUPT with file, offset and the number of whole events before it, never a shorter
 *    log. `capabilities.integrity` says which damage is detected.
 * 8. A `taskDir` or `dispatchId` that would leave the root is refused: see `assertTaskDir` and `assertDispatchId`.
 * 9. After `close` every call throws STORE_CLOSED, except `close` itself, which may be called again.
 *
 * Every method throws STORE_CLOSED, STORE_INVALID_PATH and STORE_UNAVAILABLE where they apply; those that read stored
 * data also STORE_CORRUPT and STORE_NEWER. A method that answers with a promise rejects with the same codes.
 */
export interface DispatchStoreProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  readonly capabilities: StoreCapabilities;

  /**
   * Creates a dispatch. When it returns, every listing includes the dispatch. The task need not have a record. A dispatch
   * that is created as `running` is claimed by this opening; one with another status is not claimed.
   * @throws STORE_DISPATCH_EXISTS
   */
  createDispatch(taskDir: string, envelope: DispatchEnvelope): Awaitable<void>;

  /**
   * Claims a dispatch, whatever its status, and returns its envelope. This opening may write to the dispatch until
   * `releaseDispatch` or `close`, and no other opening may; a change of the status does not end the claim. Claiming a
   * dispatch again changes nothing, and one release releases it. A claim is free if its owner is proven to have exited,
   * if this opening has seen its heartbeat unchanged for a whole lease, by the monotonic clock of this process, or if the server of the
   * store has ended the lease by its own clock, a whole lease or more after its owner has stopped. An opening that
   * loses a claim so gets STORE_LOCKED for every write until it claims again, and nothing of these writes is in the log.
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
   * The claim of a dispatch by any opening, or null if it is free. Needs `capabilities.writers: 'dispatch'`.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  findClaim?(taskDir: string, dispatchId: string): Awaitable<ClaimState | null>;

  /**
   * The claims of several dispatches of a task, in the order of the ids: null for one that is free, and for one that does not exist. A
   * store on another machine needs one request, or a few, for any number of ids. Needs `capabilities.writers: 'dispatch'`.
   */
  findClaims?(taskDir: string, dispatchIds: readonly string[]): Awaitable<(ClaimState | null)[]>;

  /**
   * Ends the claim of another opening, which gets STORE_LOCKED for its next write. Without a claim nothing changes. Only an
   * explicit request of a user leads to this call. Needs `capabilities.writers: 'dispatch'`.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  breakClaim?(taskDir: string, dispatchId: string): Awaitable<void>;

  /**
   * Changes fields of an envelope and leaves the others as they are. `null` is a value: it is written. Returns a copy of
   * the changed envelope. An update never claims, whatever status it sets.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where this opening has not claimed the dispatch
   */
  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Awaitable<DispatchEnvelope>;

  /**
   * Adds one event at the end, and returns its position: the place in append order, from 0. An event that is stored already
   * stays where it is, and the answer is the position that it has. An ended dispatch still accepts events (a late notice, a
   * verdict). An append never claims.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_EVENT_CONFLICT (the id exists with other content), STORE_LOCKED where this
   * opening has not claimed the dispatch
   */
  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): Awaitable<number>;

  /**
   * Adds several events at the end, all or none, and returns the position of each, in the order of the list. Events that
   * already exist with equal content are skipped: they have the position at which they are stored. An empty list
   * changes nothing, but needs a claim. If two events of the list have one id, equal ones count once, with one position, and
   * different ones are a conflict.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_EVENT_CONFLICT, STORE_LOCKED where this opening has not claimed the dispatch
   */
  appendEvents(
    taskDir: string,
    dispatchId: string,
    events: readonly CapturedEvent[],
  ): Awaitable<readonly number[]>;

  /**
   * All envelopes of a task by `startedAt`, dispatches without a start first, then `dispatchId`; an empty list for a task without dispatches. Fails if one of
   * them cannot be read.
   */
  getDispatchEnvelopes(taskDir: string): Awaitable<DispatchEnvelope[]>;

  /**
   * A page of the dispatches of a task, or of the whole store without what is below `_hansard`, or of what is below `_hansard`. See {@link ListDispatchesOptions} and {@link DispatchPage}. An
   * unknown task has none. A dispatch that cannot be read is an entry with its error, so that it does not hide the others.
   * @throws STORE_INVALID_CURSOR (`after` is not a `next` of this store)
   */
  listDispatches(options?: ListDispatchesOptions): Awaitable<DispatchPage>;

  /** One envelope, or null if there is none. */
  getDispatchEnvelope(taskDir: string, dispatchId: string): Awaitable<DispatchEnvelope | null>;

  /**
   * Every event of a dispatch, in append order.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getDispatchEvents(taskDir: string, dispatchId: string): Awaitable<CapturedEvent[]>;

  /**
   * The last `count` events (a whole number from 0), oldest first; all of them if there are fewer.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Awaitable<CapturedEvent[]>;

  /**
   * One page of events. See {@link ReadEventsOptions} and {@link EventPage}.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR (`after` is greater than the last position)
   */
  readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): Awaitable<EventPage>;

  /** Creates or replaces the record of a task. @throws STORE_NEWER if a newer version wrote the stored one, which then stays */
  putTask(taskDir: string, task: TaskRecord): Awaitable<void>;

  /** The record of a task, or null if it has none. */
  findTask(taskDir: string): Awaitable<TaskRecord | null>;

  /** Every task that has a record or a dispatch and is not below `_hansard`, by `taskDir`. A task whose record cannot be read is listed with the reason. */
  listTasks(): Awaitable<TaskListing[]>;

  /** Finishes pending work, then releases every claim, file and connection. Safe to call twice. */
  close(): Awaitable<void>;

  /**
   * Events of the whole store, of a task or of a dispatch that contain every word of the query, newest last; if more than
   * `limit` match, the newest. Needs `capabilities.search`. The store documents which texts it searches and how it splits
   * words.
   */
  searchEvents?(query: string, options?: SearchEventsOptions): Awaitable<SearchHit[]>;

  /**
   * Calls `onChange` soon after any process created, appended to, changed or deleted a dispatch of the scope, or put the
   * record of one of its tasks. The call has no details; the listener reads the store. Calls may be merged. A call
   * without a change of the scope is allowed, but not more calls than changes in the whole store. A task that does not exist yet can be watched. Needs `capabilities.watch`.
   * @throws STORE_DISPATCH_NOT_FOUND for a dispatch that does not exist
   */
  watch?(scope: WatchScope, onChange: () => void): Awaitable<StopWatching>;

  /**
   * Removes a dispatch with its events and its claim. It needs no claim. Only an explicit request of a user leads to this
   * call. Needs `capabilities.deleteDispatch`.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it
   */
  deleteDispatch?(taskDir: string, dispatchId: string): Awaitable<void>;

  /**
   * Replaces the envelope and the events of a dispatch by their new forms, in one step: a reader sees the old content or the new one,
   * and so does every opening after a kill at any byte. Positions, and so cursors, stay valid. A search does not find the old content, and
   * the files or tables of the store have it nowhere that a read, an index or a search uses; what else may still hold it is in the
   * answer. An error of a function of `rewrite` is thrown again, and then nothing has changed. Memory does not grow with the
   * number of events. It needs no claim, and a claim of this opening stays. Only an explicit request of a user leads to this call. Needs
   * `capabilities.rewrite`.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it, STORE_CORRUPT if it is damaged
   */
  rewriteDispatch?(
    taskDir: string,
    dispatchId: string,
    rewrite: DispatchRewrite,
  ): Awaitable<DispatchRewritten>;

  /**
   * Gives a log that was written under another name, and is STORE_MISPLACED for every other method, the name of its
   * place: the id in its envelope changes, its events stay. Without `dispatchId`: each such log of the task. Returns
   * the ids of these dispatches; a log that has its name stays as it is. It needs no claim, and repeating the call is
   * safe. Only an explicit request of a user leads to this call. Optional, for a store whose logs can get another
   * name.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it, STORE_CORRUPT if it is damaged
   */
  adoptDispatches?(taskDir: string, dispatchId?: string): Awaitable<readonly string[]>;

  /**
   * Removes old content that rewrites, changes and deletions have left in unused parts of the store, such as free pages, deleted words of an index and
   * logs. Returns the places that can still hold old content, each in words, with what removes it: this answer replaces those of earlier
   * rewrites. Content does not change, claims stay, and repeating the call is safe. It can take as long as writing the whole store
   * again, so it is called once after many rewrites. Only an explicit request of a user leads to this call. Optional, for a store with
   * `capabilities.rewrite`; a store whose rewrites leave nothing omits it.
   * @throws STORE_UNAVAILABLE if it could not finish: old content can then be where the rewrites have said
   */
  removeRemains?(): Awaitable<readonly string[]>;

  /**
   * The places of the store, or of a task or a dispatch, that no read shows and that can hold content, such as the copy of a killed process
   * or a damaged dispatch that was kept. Each is in words, and says how it is removed. Nothing changes. Optional, for a store that can
   * have such places.
   */
  findRemains?(scope?: RemainsScope): Awaitable<readonly string[]>;

  /**
   * Checks every stored byte of a dispatch. Damage is in the answer, and not an error. Needs `capabilities.integrity:
   * 'checksum'`.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  verifyDispatch?(taskDir: string, dispatchId: string): Awaitable<DispatchVerification>;

  /**
   * Makes a damaged dispatch usable again: it keeps its whole events in order, followed by `notice`, which counts what is
   * lost. The damaged bytes are kept beside it. A dispatch without damage is left alone. It needs no claim. Only an explicit
   * request of a user leads to this call. Needs `capabilities.integrity: 'checksum'`. Returns what was found before the change.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED where another opening has claimed it, STORE_CORRUPT if the envelope
   * cannot be read
   */
  acceptLoss?(taskDir: string, dispatchId: string, notice: CapturedEvent): Awaitable<DispatchVerification>;

  /**
   * The repairs since the store was opened, oldest first (rule 7). A store that never repairs omits this method.
   */
  getRepairs?(): Awaitable<StoreRepair[]>;

  /**
   * Asks the server that keeps the data for its version, in one round trip, whose duration callers report as its latency. Neither
   * text has a password. A store without a server omits this method.
   */
  getServer?(): Awaitable<StoreServer>;
}

/** The new content of a dispatch. Its functions are called in this order, while nobody else can write the dispatch. */
export interface DispatchRewrite {
  /** The new envelope, with the same `dispatchId`, `startedAt` and `status`. */
  readonly envelope: (envelope: DispatchEnvelope) => DispatchEnvelope;
  /** The new form of each event, in the order of the log, with the same id, type and time: the event itself where it stays. */
  readonly event: (event: CapturedEvent) => CapturedEvent;
  /** The event that is added at the end in the same step. Absent: none is added. */
  readonly notice?: () => CapturedEvent;
}

/** The result of `rewriteDispatch`. */
export interface DispatchRewritten {
  /** Places of this store that can still hold the old content, each in words, with what removes it. */
  readonly remains: readonly string[];
}

/** Where `findRemains` looks: the whole store, one task, or one dispatch. */
export interface RemainsScope {
  /** Absent: every task. */
  readonly taskDir?: string;
  /** Absent: every dispatch of the task. Only together with `taskDir`. */
  readonly dispatchId?: string;
}

/** The server of a store. */
export interface StoreServer {
  /** Where it is, and the part of it that the store uses, such as `db.example.com:5432/agents, schema hansard`. */
  readonly name: string;
  /** Its product and version, such as `PostgreSQL 18.4`. */
  readonly version: string;
}

/** The right of one opening of a store to write a dispatch. */
export interface DispatchClaim {
  /** The envelope as it is when the claim is made. */
  readonly envelope: DispatchEnvelope;
  /** A whole number from 1, greater than that of every earlier claim of this dispatch. */
  readonly epoch: number;
}

/** The claim of a dispatch, as any process can see it. */
export interface ClaimState {
  /** The owner, in words: `process 4711 on host a`. */
  readonly owner: string;
  /** Whether the claim belongs to this opening of the store. */
  readonly isOwn: boolean;
  /**
   * `running`: the owner is a running process, or renews its heartbeat. `unknown`: this process cannot check the owner and has not
   * watched its heartbeat for a whole lease. `expired`: another opening may claim the dispatch.
   */
  readonly state: 'running' | 'unknown' | 'expired';
  /** Milliseconds after which an `unknown` claim is `expired` if its owner does not renew it; null for the other states. */
  readonly expiresInMs: number | null;
}

/** The result of `verifyDispatch`. */
export interface DispatchVerification {
  /** `none`: there are no checksums to compare. Only what is not an event was found then. */
  readonly integrity: StoreCapabilities['integrity'];
  /** The number of whole events, including those after the damage. */
  readonly wholeEvents: number;
  /** The number of bytes that were checked. */
  readonly bytes: number;
  /** In the order of their places; none if the dispatch is whole. */
  readonly damages: readonly DispatchDamage[];
}

/** Damage of stored data. */
export interface DispatchDamage {
  /** A file, a table. */
  readonly place: string;
  /** The first damaged byte or row of the place. */
  readonly offset: number;
  /** The number of damaged bytes; 0 where events are missing. */
  readonly bytes: number;
  /** The number of whole events before it. */
  readonly eventsBefore: number;
  /** The number of events that are lost here; null if it is not known. */
  readonly lostEvents: number | null;
  readonly reason: string;
}

export interface ReadEventsOptions {
  /** The position of the last event already seen; the page starts after it. Absent or -1: from the beginning. */
  readonly after?: number;
  /**
   * The maximum number of events in the page, at least 1. Absent: 1,000. A page also ends before the event with which it would have more than 8 MiB, as JSON. It has at least
   * one event, unless there is none.
   */
  readonly limit?: number;
  /**
   * How many of the last events to read instead: a whole number from 0. All of them where there are fewer. With 0 the
   * page is empty, and its `first` is the number of events. They are all in one page, whatever their size. Never together with `after` or `limit`.
   */
  readonly last?: number;
  /**
   * Reads the whole events of a damaged dispatch and omits the damaged ones, where a read is otherwise STORE_CORRUPT.
   * Positions then count whole events only. Needs `capabilities.integrity: 'checksum'`.
   */
  readonly skipDamaged?: boolean;
}

/** A page of events. Positions count from 0 in append order. */
export interface EventPage {
  readonly events: CapturedEvent[];
  /** The position of the first event of the page; for an empty page, the position of the next event to be appended. */
  readonly first: number;
  /**
   * The `after` of the next page: the position of the last event of this page. For an empty page the given `after`, or with
   * `last` the position of the last event of the dispatch (-1 if it has none).
   */
  readonly next: number;
}

export interface TaskListing {
  readonly taskDir: string;
  /** Null if the task has dispatches but no record, or if its record cannot be read. */
  readonly task: TaskRecord | null;
  /** The reason why the record cannot be read: STORE_CORRUPT, STORE_NEWER or STORE_UNAVAILABLE, as `findTask` throws it. */
  readonly error?: StoreError;
}

/** Damage that a store found after a crash, and repaired. */
export interface StoreRepair {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** A file, a table. */
  readonly place: string;
  /** The first damaged byte of the place. */
  readonly offset: number;
  /** The number of removed bytes of an unfinished record. No copy is kept, because the record was never acknowledged. */
  readonly removedBytes: number;
  readonly reason: string;
}
