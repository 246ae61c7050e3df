import type { CapturedEvent, Delta, DispatchEnvelope } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';

/**
 * Shows dispatches to somebody and brings back what they say. Its methods are called one after the other, each when the
 * one before is done; one that is slow or throws never delays or fails a dispatch.
 */
export interface CommunicationProvider {
  /** Called once, before anything else. `host` takes what people say to running dispatches. */
  start?(host: CommunicationHost): Awaitable<void>;
  dispatchStarted?(notice: DispatchStartNotice): Awaitable<void>;
  /** An event that is in the log by now. */
  eventRecorded(notice: EventNotice): Awaitable<void>;
  /** A piece of text on its way; it is in no log, and may be left out when the provider is behind (D8). */
  deltaReceived?(notice: DeltaNotice): Awaitable<void>;
  dispatchEnded?(notice: DispatchNotice): Awaitable<void>;
  close?(): Awaitable<void>;
}

export interface CommunicationHost {
  /**
   * Gives a message to a running dispatch: it is recorded as `user:message`, then reaches the agent.
   * Resolves to false where no such dispatch runs (any more).
   */
  deliver(message: IncomingMessage): Promise<boolean>;
}

export interface IncomingMessage {
  readonly text: string;
  /** Absent: the dispatch that started last and still runs; a worker of another only where no other runs. */
  readonly dispatchId?: string;
}

export interface DispatchNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
}

export interface DispatchStartNotice extends DispatchNotice {
  /** The agents of a session that goes on, whose creation was recorded before. Absent: none. */
  readonly agents?: readonly AgentInfo[];
}

export interface EventNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly event: CapturedEvent;
}

export interface DeltaNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly delta: Delta;
}
