import type { CapturedEvent, Delta, DispatchEnvelope, EventData } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { LoggedString } from './logged-string.ts';

/**
 * Shows dispatches to people and returns their messages.
 *
 * The caller is the communication hub of `@hansard/dispatch`. What a provider may assume:
 * - Its methods are called one at a time, each after the previous one has settled. Providers do not wait for each other.
 * - `start` is called once and first. Then the notices of each dispatch come in the order of its log: `dispatchStarted`, events and
 *   deltas, `dispatchEnded`. An event is in the store when its notice is sent.
 * - A dispatch whose store failed has no `dispatchEnded`.
 *
 * What it must do:
 * - Leave the notices as they are: all providers receive the same objects.
 * - Settle each call. At most 1,000 notices wait for a provider (`queueLimit` of the hub). When more arrive, waiting deltas are
 *   dropped first, then the older half of the waiting events; `onProblem` reports how many.
 *
 * What it may throw: any error. The hub reports it to `onProblem` (by default as a warning of the process) and makes the next
 * call. If `start` throws, the provider gets no other call except `close`. No dispatch is delayed or fails because of a provider.
 *
 * How it is stopped: `close` of the hub waits for the queues, by default 2 seconds, and drops the rest. It does not close the
 * providers. Their owner, such as the plugin loader, does so afterwards.
 */
export interface CommunicationProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Prepares the provider. `host` accepts messages for running dispatches. */
  start?(host: CommunicationHost): Awaitable<void>;
  /** Reports that a dispatch began, or that a session continues one. */
  dispatchStarted?(notice: DispatchStartNotice): Awaitable<void>;
  /** Reports an event after it was recorded. */
  eventRecorded(notice: EventNotice): Awaitable<void>;
  /** Reports a piece of streamed text. It is not recorded, and may be skipped when the provider is slow (D8). */
  deltaReceived?(notice: DeltaNotice): Awaitable<void>;
  /** Reports that a dispatch ended. Its envelope has the final status. */
  dispatchEnded?(notice: DispatchNotice): Awaitable<void>;
  /** Releases what the provider holds. Called by its owner when the hub is closed; a second call does nothing. */
  close?(): Awaitable<void>;
}

export interface CommunicationHost {
  /**
   * Delivers a message to a running dispatch. It is recorded as `user:message` and then given to the agent.
   * Resolves to false if no such dispatch is running. Rejects with
   * DISPATCH_MESSAGE_EMPTY for a message without text, and with the error of the store if the message cannot be recorded.
   */
  deliver(message: IncomingMessage): Promise<boolean>;
  /**
   * Stops a running dispatch and its workers for the user; it becomes `aborted`. Returns false if no such dispatch is running, or
   * if it cannot be stopped from outside.
   */
  abort(dispatchId: string, reason?: string): boolean;
  /** What {@link deliver} and `abort` can do now: both false if no such dispatch is running. */
  accepts(dispatchId: string): { readonly messages: boolean; readonly abort: boolean };
  /**
   * Begins a task with the agent and the limits that the configuration names. Resolves when the dispatch is durable; its prompt is a
   * `user:message` with the source. When the hub is closed, such dispatches are aborted, and the hub waits for their end.
   * @throws DISPATCH_START_REFUSED if the configuration does not allow it, as many run as it allows, the hub is closing, or there is no
   * prompt; the errors of the harness, such as HARNESS_NAME_INVALID; the error of the store
   */
  start(task: IncomingTask): Promise<{ readonly taskDir: string; readonly dispatchId: string }>;
  /** The store of the dispatches, to read them: a `DispatchStore` of `@hansard/dispatch`. Absent: the host gives none. */
  readonly store?: object;
}

export interface IncomingMessage {
  readonly text: string | LoggedString;
  /** Absent: the running dispatch that started last. Workers of other dispatches are considered only if no other runs. */
  readonly dispatchId?: string;
  /** The source of the message: a person or the outside world, such as a webhook. Absent: a person. */
  readonly source?: IncomingSource;
}

export interface IncomingTask {
  /** What the agent is asked. */
  readonly prompt: string;
  /** The slug of the task, in the project that the configuration names. Absent: a new one. */
  readonly task?: string;
  /** Who began it. Absent: a person. */
  readonly source?: IncomingSource;
}

/** A source outside the harness: `user`, or `external` with what sent the message, if that is known. `name`: who, if that is known. */
export type IncomingSource = Pick<EventData<'user:message'>['source'], 'what' | 'name'> & {
  readonly kind: 'user' | 'external';
};

export interface DispatchNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
}

export interface DispatchStartNotice extends DispatchNotice {
  /** The existing agents of a session that is resumed. Absent: none. */
  readonly agents?: readonly AgentInfo[];
}

export interface EventNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly event: CapturedEvent;
  /** Its position in the dispatch. Positions that a provider was not given are of notices that were dropped: the store has their events. */
  readonly position: number;
}

export interface DeltaNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly delta: Delta;
}
