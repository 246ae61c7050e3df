import type {
  CapturedEvent,
  Delta,
  DispatchEnvelope,
  DispatchSource,
  DispatchStatus,
  EnvelopeUpdates,
  Fidelity,
  IdSource,
  NewEvent,
} from '@hansard/events';
import type { DispatchFacts, PriceTable } from '@hansard/facts';
import type { AgentInfo } from '@hansard/provider';
import type { CommunicationHub } from '../communication/communication-hub.ts';
import type { DispatchLog } from './dispatch-log.ts';

/**
 * The dispatch that this program writes. `beginDispatch` creates one and `openDispatch(…, { write: true })` claims one
 * that exists; there is one such object for a dispatch and a process at a time. Everything that records a dispatch uses
 * it: runs, sessions, imports and programs of users.
 *
 * - An event is checked, copied, ordered and published once.
 * - Writes keep the order of their calls, awaited or not.
 * - After `end`, `release` or `abandon` every write is STORE_LOCKED; open the dispatch again to write to it.
 * - Leaving the scope (`await using`) without `end`: if this object began the dispatch or set it `running`, and it still
 *   is, a `harness:abort` (reason `left without end`) is appended and the dispatch becomes `aborted`. It is always released. A
 *   failure meanwhile becomes a warning of the process, so that it never hides the error of the body. `store.close()` does
 *   the same for every dispatch that is open.
 */
export interface Dispatch extends DispatchLog, AsyncDisposable {
  /** The owner of the object in this process, in words, for the message of a STORE_LOCKED. */
  readonly owner: string;

  /**
   * Records one event and returns it as it was recorded: a copy, with id and timestamp, redacted, and at `narrative`
   * fidelity without the fields that it omits. Once it resolves, the event survives the failures that
   * `capabilities.durability` names. A key whose value is `undefined` counts as absent. With a synchronous store, the event
   * is written before `append` returns.
   * @throws STORE_EVENT_CONFLICT, STORE_LOCKED, EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL (a delta is never
   * recorded, D8)
   */
  append(event: NewEvent): Promise<CapturedEvent>;

  /** Records several events, all or none. Otherwise as for one. */
  append(events: readonly NewEvent[]): Promise<CapturedEvent[]>;

  /**
   * The events as they would be recorded. The list can be given to `accept`, which does not check it again.
   * @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL
   */
  check(events: readonly NewEvent[]): readonly CapturedEvent[];

  /**
   * As `append`, for callers that need the recorded form at once. It throws at once if an event is not valid.
   * `recorded` is null if the events are already durable; otherwise handle it.
   */
  accept(events: readonly NewEvent[]): AcceptedEvents;

  /** Resolves when no write is pending, whether the writes succeeded or failed. */
  settled(): Promise<void>;

  /**
   * What the events say that the store has so far, each event once. All of them if this object began the dispatch. Of a dispatch that
   * was opened again, usage and cost are those of all of them after `fold`, or after an update that names a status.
   */
  readonly facts: LoggedFacts;

  /** Resolves to the facts of the log, after the writes that were called before. Reads what is not counted yet. */
  fold(): Promise<LoggedFacts>;

  /**
   * Changes fields of the envelope, `null` included, and returns the new envelope. An update that names a status also
   * writes the figures that the log states: `cost`, `usage`, `models`, `periods` and `prices`, of all events that were appended before this
   * call. A figure of `updates` has precedence over that of the log, and a figure that the log does not state stays unchanged. A status
   * other than `running` does not release the dispatch: see `end`.
   * @throws STORE_LOCKED, EVENT_ENVELOPE_INVALID
   */
  update(updates: EnvelopeUpdates): Promise<DispatchEnvelope>;

  /**
   * Completes the envelope (an absent `completedAt` is now, and null is not recorded) with the figures of the log, as `update` does, releases the
   * dispatch and publishes its end.
   * @throws STORE_LOCKED, EVENT_ENVELOPE_INVALID
   */
  end(updates: DispatchEnd): Promise<DispatchEnvelope>;

  /** Ends the claim and leaves the dispatch as it is: a `running` one stays `running`. Safe to call twice. */
  release(): Promise<void>;

  /**
   * Drops the object as if the process had exited, after the store failed: `closeAbandonedDispatches` ends the dispatch.
   * Writes that the store has not received yet are not made; they fail with STORE_LOCKED.
   */
  abandon(): void;

  /** Publishes that the dispatch started, with the agents that it already has. */
  announce(agents?: readonly AgentInfo[]): void;

  /** Publishes a delta. It is not recorded (D8). */
  publish(delta: Delta): void;

  /** Ends the streams of this process with an error, after recording has failed. */
  fail(error: unknown): void;

  /** Appends for one agent of the dispatch. */
  as(agentId: string): AgentWriter;

  /** Begins a dispatch of the same task whose parent is this one. */
  beginChild(dispatch: NewDispatch, options?: WriterOptions): Promise<Dispatch>;
}

/** What a log says so far. Only the dispatch observes events. */
export type LoggedFacts = Omit<DispatchFacts, 'observe'>;

export interface AcceptedEvents {
  readonly events: readonly CapturedEvent[];
  /** The same events with what a narrative leaves out, for a writer with `keepsWhole`; otherwise `events`. */
  readonly whole: readonly CapturedEvent[];
  readonly recorded: Promise<void> | null;
}

export interface AgentWriter {
  readonly agentId: string;
  append(event: NewEvent): Promise<CapturedEvent>;
  append(events: readonly NewEvent[]): Promise<CapturedEvent[]>;
}

export type DispatchEnd = EnvelopeUpdates & { readonly status: Exclude<DispatchStatus, 'running'> };

export interface WriterOptions {
  /** The owner of the claim in this process, in words. Absent: `a program`. */
  readonly owner?: string;
  /** Publishes what is recorded. */
  readonly communication?: CommunicationHub | undefined;
  /** Writes that wait for a failed one fail with its error, instead of being made. */
  readonly haltsOnFailure?: boolean;
  /** `accept` also gives the events with what a narrative leaves out. */
  readonly keepsWhole?: boolean;
  /** `false`: its events and deltas are not redacted, because they must be read back as they are. Absent: as the store does. */
  readonly redact?: boolean;
  /**
   * `true`: the events come from a mapping of another log or engine, such as those of an import. A narrative keeps only short fields of
   * the types that the mapping made up. Absent: a program records them, and its own types are kept whole.
   */
  readonly isMapped?: boolean;
  /**
   * Estimates calls for which the log states no cost. Null: no estimates. Absent: none for new calls, and earlier estimates of
   * the envelope stay. With another table than that of the envelope, the whole log is counted again.
   */
  readonly prices?: PriceTable | null | undefined;
  /** Milliseconds since 1970 for events without a time, and for the end. Absent: the clock of the store. */
  readonly now?: (() => number) | undefined;
  /** Mints the ids of events that have none. Absent: as the store does. */
  readonly createId?: IdSource | undefined;
}

/** A dispatch to begin. Absent `dispatchId` and `startedAt` are minted, `fidelity` is `narrative`, and the others are null. */
export interface NewDispatch {
  readonly role: string;
  /** For people. Without one, a dispatch receives that of its events when it ends, such as the beginning of the first message. */
  readonly title?: string | null | undefined;
  readonly dispatchId?: string | undefined;
  /** RFC 3339, UTC, milliseconds. */
  /** Null: not recorded, as in an import of a log without times. */
  readonly startedAt?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly parentDispatchId?: string | null | undefined;
  readonly botId?: string | null | undefined;
  readonly fidelity?: Fidelity | undefined;
  /** The log that the dispatch is imported from. */
  readonly source?: DispatchSource | null | undefined;
}
