import type {
  CapturedEvent,
  DispatchEnvelope,
  DispatchLetter,
  HansardError,
  TaskRecord,
} from '@hansard/events';
import type {
  ClaimState,
  DispatchVerification,
  ListDispatchesOptions,
  RemainsScope,
  SearchEventsOptions,
  SearchHit,
  StopWatching,
  StoreCapabilities,
  StoreError,
  StoreRepair,
  TaskListing,
  WatchScope,
} from '@hansard/provider';
import type { Redactor } from '@hansard/redaction';
import type { DispatchRedaction } from '../redaction/dispatch-redaction.ts';
import type { Dispatch, NewDispatch, WriterOptions } from './dispatch.ts';
import type { DispatchEntries, DispatchEntry, TaskFollowItem, TaskFollowOptions } from './dispatch-entry.ts';
import type { DispatchLog } from './dispatch-log.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import type { FollowItem, FollowOptions } from './follow-item.ts';

/** Claims the dispatch that is opened. */
export interface WriteAccess extends WriterOptions {
  readonly write: true;
  /**
   * Milliseconds, 0 by default. How long to wait for a claim whose owner cannot be checked, if it can expire in that time. A claim of a
   * process that is known to run is STORE_LOCKED at once.
   */
  readonly waitMs?: number;
  /** Receives the STORE_LOCKED and the milliseconds of each wait, before it begins. */
  readonly onWait?: (refusal: StoreError, waitMs: number) => void;
  /** Ends a wait, which then fails with its STORE_LOCKED. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadAccess {
  readonly write?: false;
  /**
   * Reads the whole events of a damaged dispatch, where a read is otherwise STORE_CORRUPT. Positions then count whole events only. An
   * event that is whole and has a shape that no version records is replaced by a `system:notice`.
   * Needs `capabilities.integrity: 'checksum'`.
   */
  readonly skipDamaged?: boolean;
}

/** What a process says to a dispatch that another one writes. */
export interface NewLetter {
  /** The message, or the reason of an abort. */
  readonly text?: string | undefined;
  /** Stops the dispatch. */
  readonly abort?: boolean | undefined;
  /** Answers a call of the dispatch that waits for a person, whatever the status of the dispatch is. */
  readonly answer?: DispatchLetter['answer'];
  /** The agent that is meant. Absent: the dispatched one, or the root. */
  readonly agentId?: string | undefined;
  /** Absent: a person. */
  readonly source?: DispatchLetter['source'] | undefined;
  /**
   * The id of the letter, and of the event by which the owner repeats it: `letter_` and 1 to 121 characters of `A-Z a-z 0-9 . _ -`. Repeat it
   * to send the same letter again. Absent: minted.
   */
  readonly from?: string | undefined;
}

/** A letter that a store has, or an inbox that cannot be listed. */
export interface StoredLetter {
  /** The task of the letter, below `_hansard`. */
  readonly inbox: string;
  /** Null: the inbox cannot be listed. */
  readonly letterId: string | null;
  /** The dispatch that it was written to. `taskDir` is null if the letter cannot be read. Null: it is in no inbox. */
  readonly to: { readonly taskDir: string | null; readonly dispatchId: string } | null;
  /** Null: the error prevents its taking. */
  readonly letter: DispatchLetter | null;
  /** STORE_CORRUPT, STORE_UNAVAILABLE, or DISPATCH_LETTER_INVALID. Null: it can be taken. */
  readonly error: HansardError | null;
}

export interface DeleteDispatchOptions {
  /** Whether no later import may bring the dispatch back. Absent: so for an import. */
  readonly exclude?: boolean;
}

/** `refused`: the dispatch has ended without the letter. A dispatch that is continued later still takes it. */
export type LetterState = 'taken' | 'waiting' | 'refused';

/**
 * A store for its users: any `DispatchStoreProvider` with dispatch objects, checks, minted ids and times, redaction and
 * live followers.
 *
 * Every method rejects with STORE_CLOSED after `close`, with STORE_INVALID_PATH for a task or dispatch that would leave
 * the root, with STORE_UNAVAILABLE if the storage fails; those that read, with STORE_CORRUPT.
 */
export interface DispatchStore extends AsyncDisposable {
  readonly capabilities: StoreCapabilities;

  /**
   * Creates a dispatch of status `running` and claims it (D3).
   * @throws STORE_DISPATCH_EXISTS, EVENT_ENVELOPE_INVALID
   */
  beginDispatch(taskDir: string, dispatch: NewDispatch, options?: WriterOptions): Promise<Dispatch>;

  /**
   * Claims a dispatch, whatever its status, to write to it. The dispatch is named by a reference, such as a `DispatchLog`,
   * or by its `taskDir` and `dispatchId`.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED naming the owner: another process, or an object of this one
   */
  openDispatch(dispatch: DispatchRef, access: WriteAccess): Promise<Dispatch>;
  openDispatch(taskDir: string, dispatchId: string, access: WriteAccess): Promise<Dispatch>;

  /** Opens a dispatch to read it. @throws STORE_DISPATCH_NOT_FOUND */
  openDispatch(dispatch: DispatchRef, access?: ReadAccess): Promise<DispatchLog>;
  openDispatch(taskDir: string, dispatchId: string, access?: ReadAccess): Promise<DispatchLog>;

  /** Opens a dispatch to read it, or returns null if there is no such dispatch. */
  findDispatch(dispatch: DispatchRef): Promise<DispatchLog | null>;

  /** All envelopes of a task by `startedAt`, then `dispatchId` (D12). Empty for a task without dispatches. Fails if one cannot be read. */
  getDispatchEnvelopes(taskDir: string): Promise<DispatchEnvelope[]>;

  /**
   * A page of the dispatches of a task or of the whole store, with filters, in the order of their start or its reverse. Each is a
   * reference with its envelope and its `log`. A dispatch that cannot be read is an entry with its error, after the others.
   * @throws STORE_INVALID_CURSOR, TypeError for a `limit` that is not a whole number from 1, or a `startedSince` that is not a time
   */
  listDispatches(options?: ListDispatchesOptions): Promise<DispatchEntries>;

  /** The dispatches of all pages, one after the other. With `limit`, that many of them. Fails as `listDispatches` does. */
  dispatches(options?: ListDispatchesOptions): AsyncGenerator<DispatchEntry, undefined>;

  /** One envelope (D12), or null if there is no such dispatch. */
  getDispatchEnvelope(dispatch: DispatchRef): Promise<DispatchEnvelope | null>;
  getDispatchEnvelope(taskDir: string, dispatchId: string): Promise<DispatchEnvelope | null>;

  /**
   * Every event of a dispatch, in append order (D12).
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  getDispatchEvents(dispatch: DispatchRef): Promise<CapturedEvent[]>;
  getDispatchEvents(taskDir: string, dispatchId: string): Promise<CapturedEvent[]>;

  /**
   * The last `count` events, oldest first (D12).
   * @throws STORE_DISPATCH_NOT_FOUND, TypeError if `count` is not a whole number from 0
   */
  getRecentEvents(dispatch: DispatchRef, count: number): Promise<CapturedEvent[]>;
  getRecentEvents(taskDir: string, dispatchId: string, count: number): Promise<CapturedEvent[]>;

  /** Follows one dispatch, as `DispatchLog.follow` does. The dispatch must exist when it is first read. */
  follow(dispatch: DispatchRef, options?: FollowOptions): AsyncIterable<FollowItem>;

  /**
   * Follows a whole task, which need not exist yet: every dispatch and every stored event, a marker, then the dispatches that begin and
   * the events that any process appends. Each comes once, those of a dispatch in the order of their positions. Between dispatches the
   * order is that of reading, and not of time. At most a page is in memory, however slow the follower is. Ends when the signal aborts or
   * when the store closes, never by itself. Each iteration starts again.
   * @throws STORE_INVALID_CURSOR, STORE_INVALID_PATH
   */
  follow(
    task: { readonly taskDir: string; readonly dispatchId?: undefined },
    options?: TaskFollowOptions,
  ): AsyncIterable<TaskFollowItem>;

  /** Writes the record of a task, new or changed (D10). @throws EVENT_TASK_INVALID */
  putTask(taskDir: string, task: TaskRecord): Promise<void>;

  /** The record of a task, or null if it has none. */
  findTask(taskDir: string): Promise<TaskRecord | null>;

  /** Every task that has a record or a dispatch, by `taskDir`. A task whose record cannot be read is listed with the reason. */
  listTasks(): Promise<TaskListing[]>;

  /**
   * Events of the whole store, of a task or of a dispatch that contain every word of the query, newest last.
   * @throws STORE_UNSUPPORTED without `capabilities.search`, TypeError for a `dispatchId` without `taskDir`
   */
  searchEvents(query: string, options?: SearchEventsOptions): Promise<SearchHit[]>;

  /**
   * Calls `onChange` soon after any process created, appended to, changed or deleted a dispatch of the scope, or put the record
   * of one of its tasks. The call has no details. Calls may be merged, and a call without a change is possible. The calls end
   * with the returned function, or when the store closes.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_UNSUPPORTED without `capabilities.watch`, TypeError for a `dispatchId` without `taskDir`
   */
  watch(scope: WatchScope, onChange: () => void): Promise<StopWatching>;

  /**
   * Says something to a dispatch that another process writes, or that nobody writes now: its owner takes the letter, or the one that
   * continues it. Returns the letter as it was written, redacted. The same `from` and content again change nothing.
   * @throws STORE_DISPATCH_NOT_FOUND, DISPATCH_LETTER_REFUSED (ended, imported, without text, too long), EVENT_ENVELOPE_INVALID,
   * STORE_DISPATCH_EXISTS for another letter with this `from`
   */
  sendLetter(dispatch: DispatchRef, letter: NewLetter): Promise<DispatchLetter>;

  /**
   * The letters to one dispatch, to the dispatches of a task, or of the whole store, taken or not. Letters to one dispatch are in the order of
   * their start. A letter that cannot be taken has its error. The whole store includes letters to dispatches that no longer exist.
   */
  readLetters(of?: RemainsScope): AsyncGenerator<StoredLetter, undefined>;

  /**
   * Whether the log of the dispatch has the letter. `after`: the position of the last event that was in the log before the letter was sent;
   * absent: the whole log is read.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  findLetter(dispatch: DispatchRef, letter: DispatchLetter, after?: number): Promise<LetterState>;

  /**
   * Removes a dispatch with its events and its letters. A letter can be named as a dispatch of its inbox. An import is excluded before: no later
   * import brings it back, until the dispatch with its id in `excludedTask` is deleted, too.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_UNSUPPORTED without `capabilities.deleteDispatch`
   */
  deleteDispatch(dispatch: DispatchRef, options?: DeleteDispatchOptions): Promise<void>;

  /**
   * The claim of a dispatch, or null if no opening has claimed it. A store with one writer knows its own claims only.
   * @throws STORE_DISPATCH_NOT_FOUND
   */
  findClaim(dispatch: DispatchRef): Promise<ClaimState | null>;

  /**
   * The claims of several dispatches of a task, in the order of the ids, with one call of the store: null for one that no opening has
   * claimed, and for one that does not exist. A store with one writer knows its own claims only.
   */
  findClaims(taskDir: string, dispatchIds: readonly string[]): Promise<(ClaimState | null)[]>;

  /**
   * Ends the claim of another opening of the store, whose next write is STORE_LOCKED. Call it only if a user asks for it.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED if an object of this store writes the dispatch, STORE_UNSUPPORTED for a
   * store with one writer
   */
  breakClaim(dispatch: DispatchRef): Promise<void>;

  /**
   * Checks every stored byte of a dispatch. Damage is in the answer, and not an error.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_UNSUPPORTED without `capabilities.integrity: 'checksum'`
   */
  verifyDispatch(dispatch: DispatchRef): Promise<DispatchVerification>;

  /**
   * Makes a damaged dispatch usable again: it keeps the whole events, followed by a `system:notice` that counts what is
   * lost. The store keeps the damaged bytes beside it. A dispatch without damage is unchanged. Call it only if a user asks for it.
   * Returns what was found before the change.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT if the envelope cannot be read, STORE_UNSUPPORTED
   */
  acceptLoss(dispatch: DispatchRef): Promise<DispatchVerification>;

  /**
   * Replaces the secrets in the envelope and the events of an ended dispatch, and removes the bytes of the contents
   * that the redactor names, in one step. Ids, positions and times stay. Then replaces the secrets in its letters,
   * one after the other. Where something is replaced in the events or the envelope, a `system:notice` with the counts
   * is added at the end. It cannot be undone: call it only if a user asks for it. A running dispatch is STORE_LOCKED,
   * also that of another process.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT, STORE_UNSUPPORTED without `capabilities.rewrite`
   */
  redactDispatch(dispatch: DispatchRef, redactor: Redactor): Promise<DispatchRedaction>;

  /**
   * Removes old content from unused parts of the store, once after the last `redactDispatch`. It can take as long as writing the whole store
   * again. Returns the places that can still hold old content, in words, instead of those that the redactions named; null if the store
   * has no such step, and the redactions named all of them. Call it only if a user asks for it.
   * @throws STORE_UNAVAILABLE
   */
  removeRemains(): Promise<readonly string[] | null>;

  /**
   * The places that no dispatch shows and that can hold content, such as the copy of a killed process or a damaged dispatch that was kept. Each
   * is in words, and says how it is removed. Empty if the store has no such places.
   */
  findRemains(scope?: RemainsScope): Promise<readonly string[]>;

  /**
   * Gives a log that was written under another name, and is STORE_MISPLACED, the name of its place; without
   * `dispatchId` each such log of the task. Returns their ids. Call it only if a user asks for it.
   * @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_CORRUPT
   */
  adoptDispatches(taskDir: string, dispatchId?: string): Promise<readonly string[]>;

  /** The repairs that the store has made since it was opened, oldest first. */
  getRepairs(): Promise<StoreRepair[]>;

  /**
   * Leaves every dispatch that is open for writing as leaving its scope does, ends the followers and closes the provider.
   * Safe to call twice.
   */
  close(): Promise<void>;
}
