import type {
  CommunicationHub,
  DispatchStore,
  TaskProblemListener,
  WriteAccess,
  WriterOptions,
} from '@hansard/dispatch';
import { createIdSource, type IdSource } from '@hansard/events';
import {
  type ContextOptions,
  type ContextPolicy,
  createContextRenderer,
  type TokenCounter,
} from '@hansard/prompt';
import type { HookProvider, LanguageModelProvider, NewAgent, ToolProvider } from '@hansard/provider';
import { type Clock, systemClock } from '@hansard/provider';

/** The options of every session, new or loaded. A session does not close the providers; their owner does. */
export interface SessionRunOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly model: LanguageModelProvider;
  /**
   * The name of the model of the root, and of every agent that is not given another. A loaded session continues with it.
   * Absent: with the model in its log.
   */
  readonly languageModel?: string;
  /** Listed once, when the session opens. If two providers have a tool of one name, the first provider's tool is used. */
  readonly tools?: readonly ToolProvider[];
  /** Asked in this order. They observe what was recorded, in this order too. */
  readonly hooks?: readonly HookProvider[];
  /** How long a hook may take for a decision or an observation, in milliseconds; false: no limit. Absent: 300,000, five minutes. */
  readonly hookTimeoutMs?: number | false;
  /** How many messages of hooks may bring each other about in a row. Absent: 8. */
  readonly maxHookChain?: number;
  /** Receives recorded events and deltas. */
  readonly communication?: CommunicationHub;
  /** How much of their agents' logs the models receive. Absent: everything, `{ name: 'full' }`. */
  readonly context?: ContextPolicy;
  /** Counts tokens, for a `faded` context and for manifests: `createTokenCounter` of `@hansard/prompt/tokens`. */
  readonly tokens?: TokenCounter;
  readonly clock?: Clock;
  /** Mints event and message ids. Absent: ULIDs that only grow. */
  readonly createId?: IdSource;
  /** Stops the agents of the session permanently; recorded as `harness:abort`. */
  readonly signal?: AbortSignal;
  /** How many rounds of tool calls one `response` may take. Absent: 50. */
  readonly maxToolRounds?: number;
  /**
   * How many tool calls of one answer may be made at the same time, from 1. Their results are recorded in the order of the calls.
   * Absent: 1, one after the other.
   */
  readonly parallelToolCalls?: number;
  /** How long one model call may take, in milliseconds. Absent: no limit. */
  readonly modelTimeoutMs?: number;
}

export interface SessionOptions extends SessionRunOptions {
  /** Absent: minted. */
  readonly dispatchId?: string;
  /** The role in the envelope. Absent: `session`. */
  readonly role?: string;
  /** The bot of the envelope. Absent: none. */
  readonly botId?: string;
  /** Receives the error if the record of the task could not be read or written. Absent: a warning of the process. */
  readonly onTaskProblem?: TaskProblemListener;
  /** The system prompt of the root. */
  readonly systemPrompt?: string;
}

export interface PeerSessionOptions extends Omit<SessionOptions, 'systemPrompt'> {
  /** At least one. One without a model gets `languageModel`. */
  readonly peers: readonly NewAgent[];
}

export interface LoadSessionOptions extends SessionRunOptions {
  readonly dispatchId: string;
  /** How to wait for a claim whose owner cannot be checked: `waitMs` and `onWait` of `openDispatch`. */
  readonly wait?: Pick<WriteAccess, 'waitMs' | 'onWait'>;
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

/** How a session writes its dispatch: with its own ids and times, and nothing after a failed write. */
export function writerOptions({
  clock,
  communication,
  createId,
}: SessionRunOptions & SessionDefaults): WriterOptions {
  return {
    owner: 'a session',
    communication,
    createId,
    now: () => clock.now(),
    haltsOnFailure: true,
  };
}

/** @throws TypeError for an invalid limit or context policy */
export function checkSessionOptions(options: SessionRunOptions): void {
  const { maxToolRounds = 50, modelTimeoutMs = 0, parallelToolCalls = 1 } = options;
  if (!Number.isSafeInteger(maxToolRounds) || maxToolRounds < 0)
    throw new TypeError(`maxToolRounds must be a whole number from 0; it is ${maxToolRounds}.`);
  if (!Number.isSafeInteger(parallelToolCalls) || parallelToolCalls < 1)
    throw new TypeError(`parallelToolCalls must be a whole number from 1; it is ${parallelToolCalls}.`);
  if (!(Number.isFinite(modelTimeoutMs) && modelTimeoutMs >= 0))
    throw new TypeError(`modelTimeoutMs must be a number from 0; it is ${modelTimeoutMs}.`);
  const { hookTimeoutMs = 0 } = options;
  if (hookTimeoutMs !== false && !(Number.isFinite(hookTimeoutMs) && hookTimeoutMs >= 0))
    throw new TypeError(`hookTimeoutMs must be a number from 0, or false; it is ${hookTimeoutMs}.`);
  const { maxHookChain = 0 } = options;
  if (!Number.isSafeInteger(maxHookChain) || maxHookChain < 0)
    throw new TypeError(`maxHookChain must be a whole number from 0; it is ${maxHookChain}.`);
  createContextRenderer(contextOptions(options));
}

export function contextOptions({ context, tokens }: SessionRunOptions): ContextOptions {
  return {
    ...(context === undefined ? {} : { policy: context }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}
