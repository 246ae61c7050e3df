import { type Dispatch, describeFailure } from '@hansard/dispatch';
import { type CapturedEvent, newEvent } from '@hansard/events';
import type { SessionRecord } from './log/session-record.ts';

export interface SessionLifeOptions {
  readonly dispatch: Dispatch;
  readonly record: SessionRecord;
  /** The signal of the owner. */
  readonly signal: AbortSignal | undefined;
  readonly onRestored: (event: CapturedEvent, position: number) => void;
  /** Stops the turns of the agents. */
  readonly onStop: (reason: unknown) => void;
}

/** How a session begins, is restored from its log and ends. */
export class SessionLife {
  readonly #options: SessionLifeOptions;
  #ignoreSignal = () => {};

  constructor(options: SessionLifeOptions) {
    this.#options = options;
  }

  /** Whether the owner aborted the session. */
  get isAborted(): boolean {
    return this.#options.signal?.aborted === true;
  }

  /** Applies an event that was in the log when the session was loaded. */
  restore(event: CapturedEvent, position: number): void {
    this.#options.onRestored(event, position);
  }

  /** Publishes the start of the running dispatch, and records when the owner's signal aborts. */
  start(): void {
    const { dispatch, record, signal } = this.#options;
    dispatch.announce(record.registry.list());
    if (signal === undefined) return;
    const onAbort = () => {
      const reason = describeFailure(signal.reason).message;
      if (record.log.isOpen) void record.log.append([newEvent('harness:abort', { reason, by: 'signal' })]);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    this.#ignoreSignal = () => signal.removeEventListener('abort', onAbort);
  }

  /** Stops the turns of the agents, and ignores the owner's signal from then on. */
  stop(reason: unknown): void {
    this.#ignoreSignal();
    this.#options.onStop(reason);
  }
}
