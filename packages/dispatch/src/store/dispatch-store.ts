import type {
  CapturedEvent,
  DispatchEnvelope,
  EnvelopeUpdates,
  Fidelity,
  NewEvent,
  TaskRecord,
} from '@hansard/events';
import type {
  DispatchListing,
  EventPage,
  ReadEventsOptions,
  SearchEventsOptions,
  SearchHit,
  StoreCapabilities,
  StoreRepair,
  TaskListing,
} from '@hansard/provider';
import type { FollowItem, FollowOptions } from './follow.ts';

/**
 * A store as its users hold it: any `DispatchStoreProvider` behind checks, minted ids and times, redaction and live
 * followers. Writes to one dispatch keep the order in which they were called, awaited or not.
 *
 * Every method rejects with STORE_CLOSED after `close`, with STORE_INVALID_PATH for a task or dispatch that would leave
 * the root, with STORE_UNAVAILABLE where the storage fails, and those that read with STORE_CORRUPT.
 */
export interface DispatchStore extends AsyncDisposable {
  readonly capabilities: StoreCapabilities;

  /**
   * Begins a dispatch of status `running` and gives its envelope (D3).
   * @throws STORE_DISPATCH_EXISTS, EVENT_ENVELOPE_INVALID
   */
  createDispatch(taskDir: string, dispatch: NewDispatch): Promise<DispatchEnvelope>;

  /**
   * Changes fields of an envelope, `null` included, and gives the envelope as it is then.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, EVENT_ENVELOPE_INVALID
   */
  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): Promise<DispatchEnvelope>;

  /**
   * Records one event and gives it as it was recorded: a copy, with id and timestamp, redacted, and in a dispatch of
   * `narrative` fidelity without what that leaves out (`toNarrative`). Once it resolves, the event survives what `capabilities.durability` says. A key whose value is `undefined` counts as absent.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_EVENT_CONFLICT, STORE_LOCKED, EVENT_INVALID, EVENT_NOT_JSON,
   * EVENT_EPHEMERAL (a delta is never recorded, D8)
   */
  appendEvent(taskDir: string, dispatchId: string, event: NewEvent): Promise<CapturedEvent>;

  /** Records several events, all or none. Otherwise as `appendEvent`. */
  appendEvents(taskDir: string, dispatchId: string, events: readonly NewEvent[]): Promise<CapturedEvent[]>;

  /** All envelopes of a task by `startedAt`, then `dispatchId` (D12). Empty for a task that has none. Fails where one can't be read. */
  getDispatchEnvelopes(taskDir: string): Promise<DispatchEnvelope[]>;

  /**
   * The same, and behind them the dispatches that can't be read, each with the reason. A store without `listDispatches`
   * fails as `getDispatchEnvelopes` does.
   */
  listDispatches(taskDir: string): Promise<DispatchListing[]>;

  /** One envelope (D12), or null where there is none. */
  getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null>;

  /**
   * Every event of a dispatch, in append order (D12).
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getDispatchEvents(taskDir: string, dispatchId: string): Promise<CapturedEvent[]>;

  /**
   * The last `count` events, oldest first (D12).
   * @throws STORE_DISPATCH_NOT_FOUND, TypeError where `count` is no whole number from 0
   */
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Promise<CapturedEvent[]>;

  /**
   * One page of events; `next` of the page is the `after` of the one behind it.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR, TypeError where `limit` is no whole number from 1
   */
  readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): Promise<EventPage>;

  /**
   * How many events a dispatch has, found by some twenty reads of one event.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  countEvents(taskDir: string, dispatchId: string): Promise<number>;

  /**
   * The session as text, in order (D12).
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  renderSessionView(taskDir: string, dispatchId: string): Promise<string>;

  /** Writes the record of a task, new or changed (D10). @throws EVENT_TASK_INVALID */
  putTask(taskDir: string, task: TaskRecord): Promise<void>;

  /** The record of a task, or null where it has none. */
  getTask(taskDir: string): Promise<TaskRecord | null>;

  /** Every task that has a record or a dispatch, by `taskDir`. One whose record can't be read is listed with the reason. */
  listTasks(): Promise<TaskListing[]>;

  /**
   * Events of a task that contain every word of the query.
   * @throws STORE_UNSUPPORTED without `capabilities.search`
   */
  searchEvents(taskDir: string, query: string, options?: SearchEventsOptions): Promise<SearchHit[]>;

  /**
   * Removes a dispatch with its events.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_UNSUPPORTED without `capabilities.deleteDispatch`
   */
  deleteDispatch(taskDir: string, dispatchId: string): Promise<void>;

  /** What the store repaired since it was opened, oldest first. */
  getRepairs(): Promise<StoreRepair[]>;

  /**
   * Everything stored behind the cursor, a marker, then what is appended from then on, by any process: no gap, nothing
   * twice, and no more than a page in memory however slow the follower. Ends when the signal aborts, the store closes or
   * `until` says so, never by itself; leaving the loop frees what it holds. Each iteration starts anew behind the cursor.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_INVALID_CURSOR while iterating
   */
  follow(taskDir: string, dispatchId: string, options?: FollowOptions): AsyncIterable<FollowItem>;

  /** Whether this store object began the dispatch, or set it running again, and has not ended it. */
  isRunningHere(taskDir: string, dispatchId: string): boolean;

  /** Ends the followers, finishes the writes under way and closes the provider. Safe to call twice. */
  close(): Promise<void>;
}

/** A dispatch to begin. What is absent is minted (`dispatchId`, `startedAt`), `null`, or `narrative` (`fidelity`). */
export interface NewDispatch {
  readonly role: string;
  readonly dispatchId?: string | undefined;
  /** RFC 3339, UTC, milliseconds. */
  readonly startedAt?: string | undefined;
  readonly model?: string | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly parentDispatchId?: string | null | undefined;
  readonly botId?: string | null | undefined;
  readonly fidelity?: Fidelity | undefined;
}
