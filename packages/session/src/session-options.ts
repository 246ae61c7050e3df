import type { CommunicationHub, DispatchStore, WriterOptions } from '@hansard/dispatch';
import { createIdSource, type IdSource } from '@hansard/events';
import type { HookProvider, LanguageModelProvider, ToolProvider } from '@hansard/provider';
import { type Clock, systemClock } from '@hansard/provider';
import {
  type ContextOptions,
  type ContextPolicy,
  createContextRenderer,
  type TokenCounter,
} from '@hansard/views';

/** What a session runs on, new or loaded. The providers stay their owner's to close. */
export interface SessionRunOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly model: LanguageModelProvider;
  /**
   * The name of the model that the root has, and every agent that is not given another. A session that is loaded goes on
   * with it; absent: with what its log says.
   */
  readonly languageModel?: string;
  /** Listed once, when the session opens. Where two have a tool of one name, the first provider's counts. */
  readonly tools?: readonly ToolProvider[];
  /** Asked in this order. */
  readonly hooks?: readonly HookProvider[];
  /** Where recorded events and deltas are shown. */
  readonly communication?: CommunicationHub;
  /** What the models see of their agents' logs. Absent: everything, `{ name: 'full' }`. */
  readonly context?: ContextPolicy;
  /** Counts tokens, for a `faded` context and for manifests: `createTokenCounter` of `@hansard/views/tokens`. */
  readonly tokens?: TokenCounter;
  readonly clock?: Clock;
  /** Mints event and message ids. Absent: ULIDs that only grow. */
  readonly createId?: IdSource;
  /** Stops what the session's agents are doing, for good; recorded as `harness:abort`. */
  readonly signal?: AbortSignal;
  /** How many rounds of tool calls one `response` may take. Absent: 50. */
  readonly maxToolRounds?: number;
  /** How long one model call may take, in milliseconds. Absent: as long as it likes. */
  readonly modelTimeoutMs?: number;
}

export interface SessionOptions extends SessionRunOptions {
  /** Absent: minted. */
  readonly dispatchId?: string;
  /** The role in the envelope. Absent: `session`. */
  readonly role?: string;
  /** What the root is told first. */
  readonly systemPrompt?: string;
}

export interface LoadSessionOptions extends SessionRunOptions {
  readonly dispatchId: string;
}

/** The options with the clock and the source of ids that the session and its dispatch share. */
export function withDefaults<T extends SessionRunOptions>(options: T): T & SessionDefaults {
  const { clock = systemClock } = options;
  return { ...options, clock, createId: options.createId ?? createIdSource({ now: () => clock.now() }) };
}

export interface SessionDefaults {
  readonly clock: Clock;
  readonly createId: IdSource;
}

/** How a session writes its dispatch: with ids and times of its own, and nothing after a write that failed. */
export function writerOptions({
  clock,
  communication,
  createId,
}: SessionRunOptions & SessionDefaults): WriterOptions {
  return {
    holder: 'a session',
    communication,
    createId,
    now: () => clock.now(),
    haltsOnFailure: true,
  };
}

/** @throws TypeError for a limit or a context policy that makes no sense */
export function checkSessionOptions(options: SessionRunOptions): void {
  const { maxToolRounds = 50, modelTimeoutMs = 0 } = options;
  if (!Number.isSafeInteger(maxToolRounds) || maxToolRounds < 0)
    throw new TypeError(`maxToolRounds must be a whole number from 0; it is ${maxToolRounds}.`);
  if (!(Number.isFinite(modelTimeoutMs) && modelTimeoutMs >= 0))
    throw new TypeError(`modelTimeoutMs must be a number from 0; it is ${modelTimeoutMs}.`);
  createContextRenderer(contextOptions(options));
}

export function contextOptions({ context, tokens }: SessionRunOptions): ContextOptions {
  return {
    ...(context === undefined ? {} : { policy: context }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}
