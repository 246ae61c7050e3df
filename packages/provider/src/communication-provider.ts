import type { CapturedEvent, Delta, DispatchEnvelope } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';

/**
 * Shows dispatches to people and returns their messages. Methods are called one at a time, each after the previous one has
 * finished. A method that is slow or throws does not delay a dispatch or make it fail.
 */
export interface CommunicationProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Called once, before anything else. `host` accepts messages for running dispatches. */
  start?(host: CommunicationHost): Awaitable<void>;
  dispatchStarted?(notice: DispatchStartNotice): Awaitable<void>;
  /** Reports an event after it was recorded. */
  eventRecorded(notice: EventNotice): Awaitable<void>;
  /** Reports a piece of streamed text. It is not recorded, and may be skipped when the provider is slow (D8). */
  deltaReceived?(notice: DeltaNotice): Awaitable<void>;
  dispatchEnded?(notice: DispatchNotice): Awaitable<void>;
  close?(): Awaitable<void>;
}

export interface CommunicationHost {
  /**
   * Delivers a message to a running dispatch. It is recorded as `user:message` and then given to the agent.
   * Resolves to false if no such dispatch is running.
   */
  deliver(message: IncomingMessage): Promise<boolean>;
}

export interface IncomingMessage {
  readonly text: string;
  /** Absent: the running dispatch that started last. Workers of other dispatches are considered only if no other runs. */
  readonly dispatchId?: string;
}

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
}

export interface DeltaNotice {
  readonly taskDir: string;
  readonly envelope: DispatchEnvelope;
  readonly delta: Delta;
}
