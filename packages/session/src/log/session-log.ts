import type {
  AcceptedEvents,
  Dispatch,
  DispatchEnd,
  DispatchStream,
  LiveStreamOptions,
  LoggedFacts,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  type Delta,
  type HansardError,
  type IdSource,
  type NewEvent,
  toTimestamp,
} from '@hansard/events';
import type { Clock } from '@hansard/provider';
import { sessionErrors } from '../session-errors.ts';

export interface SessionLogOptions {
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  readonly createId: IdSource;
  /** Receives each event when it is accepted, before it is durable, and a position that the event comes after. */
  readonly onAccepted: (event: CapturedEvent, after: number) => void;
  /** Receives the events of one append once they are durable. `whole`: with what a narrative leaves out. */
  readonly onRecorded: (events: readonly CapturedEvent[], whole: readonly CapturedEvent[]) => void;
  /** Whether surfaces do not show what an agent says and receives. */
  readonly isWithheld: (agentId: string) => boolean;
  /** Called once, when a write has failed, with the error that every later call throws. */
  readonly onFailed: (closed: HansardError) => void;
}

/** Writes the log of a session. It accepts nothing more after the first failed write. */
export class SessionLog {
  readonly createId: IdSource;
  readonly #options: SessionLogOptions;
  /** The last pending write or task. Never rejects. Null: none is pending. */
  #latest: Promise<unknown> | null = null;
  #failure: { readonly error: unknown; readonly closed: HansardError } | null = null;
  #hasEnded = false;
  #through = -1;
  #lastId: string | null = null;

  constructor(options: SessionLogOptions) {
    this.#options = options;
    this.createId = options.createId;
  }

  /** The position of the last event that `onRecorded` received, or that was restored. The log may be longer. */
  get through(): number {
    return this.#through;
  }

  /** The id of the last event that `onRecorded` received. Null: none since the log was restored. */
  get lastId(): string | null {
    return this.#lastId;
  }

  /** Continues a log whose last event has this position. Must be called before the first append. */
  continueAfter(position: number): void {
    this.#through = position;
  }

  /** The bytes of a content of the log, in Base64. Null: they are not there. */
  async readContent(sha256: string): Promise<string | null> {
    await this.#options.dispatch.settled();
    return this.#options.dispatch.readContent(sha256);
  }

  get isOpen(): boolean {
    return !this.#hasEnded && this.#failure === null;
  }

  assertOpen(): void {
    if (this.#failure !== null) throw this.#failure.closed;
    if (this.#hasEnded) throw sessionWasClosed(this.#options.dispatch.dispatchId);
  }

  timestamp(): string {
    return toTimestamp(this.#options.clock.now());
  }

  /** The events as they would be recorded; `append` does not check them again. @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  check(events: readonly NewEvent[]): readonly CapturedEvent[] {
    return this.#options.dispatch.check(events);
  }

  /**
   * Appends events, all or none, after all earlier ones. Throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL and
   * SESSION_CLOSED at once. The promise need not be handled, because the error of a failed write is kept.
   */
  append(events: readonly NewEvent[]): Promise<readonly CapturedEvent[]> {
    this.assertOpen();
    return this.#append(events);
  }

  #append(events: readonly NewEvent[]): Promise<readonly CapturedEvent[]> {
    const { dispatch, onAccepted, isWithheld } = this.#options;
    const isShown = events.every(({ type, agentId }) => !ofTalk.has(type) || !isWithheld(agentId ?? ''));
    const accepted = dispatch.accept(isShown ? events : events.map((event) => withheld(event, isWithheld)));
    for (const event of accepted.events) onAccepted(event, this.#through);
    if (accepted.recorded === null && this.#latest === null) {
      this.#report(accepted);
      return Promise.resolve(accepted.events);
    }
    return this.#whenRecorded(accepted);
  }

  /** Runs a task after everything that is pending. */
  inOrder<T>(task: () => Promise<T>): Promise<T> {
    const before = this.#latest ?? Promise.resolve();
    const done = before.then(() => {
      if (this.#failure !== null) this.assertOpen();
      return task();
    });
    this.#follow(done);
    return done;
  }

  /** Resolves when all that was appended is durable; rejects with the error of the first write that failed. */
  async flushed(): Promise<void> {
    await this.#latest;
    if (this.#failure !== null) throw this.#failure.error;
  }

  stream(options: LiveStreamOptions): DispatchStream {
    return this.#options.dispatch.stream(options);
  }

  publish(delta: Delta): void {
    if (!this.#options.isWithheld(delta.agentId ?? '')) this.#options.dispatch.publish(delta);
  }

  /**
   * Accepts nothing more, appends the last event, which can state the usage and cost of the whole log, and completes the envelope
   * with `updates`.
   */
  async end(
    last: (facts: LoggedFacts) => NewEvent,
    updates: (completedAt: string) => DispatchEnd,
  ): Promise<void> {
    const { dispatch } = this.#options;
    this.#hasEnded = true;
    await this.flushed();
    const completedAt = this.timestamp();
    void this.#append([last(dispatch.facts)]);
    await this.flushed();
    try {
      await dispatch.end(updates(completedAt));
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Accepts nothing more, and leaves the dispatch running without an owner: a later load continues it. */
  async suspend(): Promise<void> {
    this.#hasEnded = true;
    await this.flushed();
    await this.#options.dispatch.release();
  }

  #whenRecorded(accepted: AcceptedEvents): Promise<readonly CapturedEvent[]> {
    const { events, recorded } = accepted;
    const before = this.#latest;
    const write = async () => {
      try {
        await recorded;
      } catch (error) {
        this.#fail(error);
        throw error;
      }
      await before;
      this.#report(accepted);
      return events;
    };
    const done = write();
    done.catch(() => {});
    this.#follow(done);
    return done;
  }

  #report({ events, whole }: AcceptedEvents): void {
    // Only this log appends to the dispatch, and mints the ids of its events, so each event is at the next position.
    this.#through += events.length;
    this.#lastId = events.at(-1)?.id ?? this.#lastId;
    this.#options.onRecorded(events, whole);
  }

  #follow(step: Promise<unknown>): void {
    const settled: Promise<unknown> = step
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.#latest === settled) this.#latest = null;
      });
    this.#latest = settled;
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    const { dispatch, onFailed } = this.#options;
    const closed = writeFailed(dispatch.dispatchId, error);
    this.#failure = { error, closed };
    dispatch.fail(error);
    dispatch.abandon();
    onFailed(closed);
  }
}

/** The types of events that can quote what an agent was shown. */
const ofTalk: ReadonlySet<string> = new Set([
  'user:message',
  'agent:text',
  'agent:thinking',
  'agent:tool_call',
  'agent:tool_result',
  'harness:error',
]);

function withheld(event: NewEvent, isWithheld: SessionLogOptions['isWithheld']): NewEvent {
  if (!ofTalk.has(event.type) || !isWithheld(event.agentId ?? '')) return event;
  return { ...event, data: { ...event.data, withheld: true } };
}

function writeFailed(dispatchId: string, cause: unknown): HansardError {
  return sessionErrors.error(
    'SESSION_CLOSED',
    `The session ${dispatchId} stopped because a write failed; load it again once the store works.`,
    { cause, details: { dispatchId } },
  );
}

export function sessionWasClosed(dispatchId: string): HansardError {
  return sessionErrors.error('SESSION_CLOSED', `The session ${dispatchId} was closed; load it to continue.`, {
    details: { dispatchId },
  });
}
