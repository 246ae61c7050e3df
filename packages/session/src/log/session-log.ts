import {
  type Clock,
  type CommunicationHub,
  type DispatchHold,
  type DispatchStore,
  type DispatchStream,
  LiveFeed,
  type LiveStreamOptions,
  streamDispatch,
} from '@hansard/dispatch';
import {
  type CapturedEvent,
  type Delta,
  type DispatchEnvelope,
  type EnvelopeUpdates,
  type IdSource,
  inLineOrder,
  type NewEvent,
  parseEvent,
  toTimestamp,
} from '@hansard/events';
import type { AgentInfo } from '@hansard/provider';
import { SessionError } from '../session-error.ts';

export interface SessionLogOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  /** Let go at the end. */
  readonly hold: DispatchHold;
  readonly communication: CommunicationHub | undefined;
  readonly clock: Clock;
  readonly createId: IdSource;
  /** Takes each event when it is accepted, before it is durable. */
  readonly onAccepted: (event: CapturedEvent) => void;
  /** Takes what was appended together once it is durable, as it was recorded. */
  readonly onRecorded: (events: readonly CapturedEvent[]) => void;
  /** Called once, where a write failed, with what is thrown from then on. */
  readonly onFailed: (closed: SessionError) => void;
}

/** The one way into the log of a session: checks at once, writes in order, stops for good at the first failed write. */
export class SessionLog {
  readonly createId: IdSource;
  readonly #options: SessionLogOptions;
  readonly #feed = new LiveFeed();
  #envelope: DispatchEnvelope;
  /** What was asked for last. Never rejects. */
  #latest: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown; readonly closed: SessionError } | null = null;
  #hasEnded = false;

  constructor(options: SessionLogOptions) {
    this.#options = options;
    this.#envelope = options.envelope;
    this.createId = options.createId;
  }

  get isOpen(): boolean {
    return !this.#hasEnded && this.#failure === null;
  }

  assertOpen(): void {
    if (this.#failure !== null) throw this.#failure.closed;
    if (this.#hasEnded) throw sessionWasClosed(this.#envelope.dispatchId);
  }

  timestamp(): string {
    return toTimestamp(this.#options.clock.now());
  }

  /** The events as they would be recorded. @throws EVENT_INVALID, EVENT_NOT_JSON, EVENT_EPHEMERAL */
  check(events: readonly NewEvent[]): CapturedEvent[] {
    const timestamp = this.timestamp();
    return events.map((event) => {
      const { id = this.createId() } = event;
      // A copy: what is written later is what was given now.
      return structuredClone(parseEvent(inLineOrder({ timestamp, ...event, id })));
    });
  }

  /**
   * Takes events into the log, all or none, behind all that it took before. Throws at once what `check` throws, and
   * SESSION_CLOSED; what it gives back may be left alone, for a failed write is kept.
   */
  append(events: readonly NewEvent[]): Promise<readonly CapturedEvent[]> {
    this.assertOpen();
    const accepted = this.check(events);
    for (const event of accepted) this.#options.onAccepted(event);
    const recorded = this.inOrder(() => this.#write(accepted));
    recorded.catch(() => {});
    return recorded;
  }

  /** Does something when all that was asked for before is done. */
  inOrder<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#latest.then(() => {
      if (this.#failure !== null) this.assertOpen();
      return task();
    });
    const settled = () => {};
    this.#latest = done.then(settled, settled);
    return done;
  }

  /** Resolves when all that was appended is durable; rejects with the error of the first write that failed. */
  async flushed(): Promise<void> {
    await this.#latest;
    if (this.#failure !== null) throw this.#failure.error;
  }

  stream(options: LiveStreamOptions): DispatchStream {
    const { store, taskDir } = this.#options;
    return streamDispatch(store, taskDir, this.#envelope.dispatchId, { ...options, feed: this.#feed });
  }

  publish(delta: Delta): void {
    const { communication, taskDir } = this.#options;
    this.#feed.publish(delta);
    communication?.deltaReceived({ taskDir, envelope: this.#envelope, delta });
  }

  /** Takes over the envelope as it is now, and tells that the dispatch started. */
  start(envelope: DispatchEnvelope, agents: readonly AgentInfo[]): void {
    const { communication, taskDir } = this.#options;
    this.#envelope = envelope;
    communication?.dispatchStarted({ taskDir, envelope, agents });
  }

  /** Takes the last events and completes the envelope with `updates` of the whole log. Nothing is taken behind them. */
  async end(events: readonly NewEvent[], updates: () => EnvelopeUpdates): Promise<void> {
    const { store, taskDir, hold, communication } = this.#options;
    void this.append(events);
    this.#hasEnded = true;
    await this.flushed();
    try {
      this.#envelope = await store.updateDispatch(taskDir, this.#envelope.dispatchId, updates());
    } catch (error) {
      this.#fail(error);
      throw error;
    }
    hold.release();
    communication?.dispatchEnded({ taskDir, envelope: this.#envelope });
  }

  async #write(events: readonly CapturedEvent[]): Promise<readonly CapturedEvent[]> {
    const { store, taskDir, communication, onRecorded } = this.#options;
    const envelope = this.#envelope;
    try {
      const recorded = await store.appendEvents(taskDir, envelope.dispatchId, events);
      onRecorded(recorded);
      for (const event of recorded) communication?.eventRecorded({ taskDir, envelope, event });
      return recorded;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return;
    const { hold, onFailed } = this.#options;
    const closed = writeFailed(this.#envelope.dispatchId, error);
    this.#failure = { error, closed };
    this.#feed.fail(error);
    hold.abandon();
    onFailed(closed);
  }
}

function writeFailed(dispatchId: string, cause: unknown): SessionError {
  return new SessionError(
    'SESSION_CLOSED',
    `The session ${dispatchId} stopped because a write failed; load it again once the store works.`,
    { cause, details: { dispatchId } },
  );
}

export function sessionWasClosed(dispatchId: string): SessionError {
  return new SessionError('SESSION_CLOSED', `The session ${dispatchId} was closed; load it to go on.`, {
    details: { dispatchId },
  });
}
