import type {
  CommunicationHub,
  DispatchStore,
  GivenOutcomes,
  LoopLimits,
  RunLimits,
  TaskProblemListener,
  WorkerOptions,
  WriteAccess,
  WriterOptions,
} from '@hansard/dispatch';
import { type CapturedEvent, createIdSource, type Fidelity, type IdSource } from '@hansard/events';
import type { ContextOptions, ContextPolicy, TokenCounter, TranscriptMessage } from '@hansard/prompt';
import type {
  Awaitable,
  HookProvider,
  IncomingSource,
  LanguageModelProvider,
  LoggedString,
  NewAgent,
  ToolProvider,
} from '@hansard/provider';
import { type Clock, systemClock } from '@hansard/provider';
import type { SessionBudgets } from './turn/budgets.ts';
import type { PendingCall, PersonAnswer } from './turn/waiting-calls.ts';

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
  /** Shows events and deltas, delivers messages to the root (see `Session.messages`), and can stop the session. */
  readonly communication?: CommunicationHub;
  /**
   * Receives each message of a communication provider first. True: the program took it, such as a command of its own. It is then not
   * recorded, and the root does not receive it. Absent: none is taken.
   */
  readonly onIncoming?: (text: string, source: IncomingSource) => boolean;
  /**
   * The limits of time and cost stop the session. `stallMs` stops the turn of an agent whose model or tool is silent for that long, apart
   * from an agent that waits for others. Absent: none.
   */
  readonly limits?: Omit<RunLimits, 'turns'>;
  /** Finds loops in the calls of each agent within one turn, and stops that turn. Absent: `defaultLoopLimits`. */
  readonly loopDetector?: LoopLimits | false;
  /**
   * The workers that agents may start through tools. A worker without a named agent has the only one of `agents`. Workers that a process
   * before started have ended when the session is loaded. Absent: none.
   */
  readonly workers?: WorkerOptions;
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
  /**
   * Receives each call that waits for a person, when it begins to wait and when the session is loaded. Its answer counts as that of the person; null: somebody else
   * answers, through `Session.answer` or a letter. Absent: somebody else does.
   */
  readonly onPending?: (call: PendingCall) => Awaitable<PersonAnswer | null>;
  /** How many answers of an agent to one question hooks may reject, from 1; after the last one `response` rejects. Absent: 3. */
  readonly utteranceTries?: number;
  /** What the session and its agents may use. What was used before a load counts; a fork begins anew. Workers are not counted. Absent: without limit. */
  readonly budgets?: SessionBudgets;
  /** How failed model calls are repeated. Each attempt is in the log. Absent: they are not. */
  readonly modelRetries?: ModelRetries;
  /** How long one model call may take, in milliseconds. Absent: no limit. */
  readonly modelTimeoutMs?: number;
  /** How long one tool call may take, in milliseconds. After that its result is an error, and its signal aborts. Absent: no limit. */
  readonly toolTimeoutMs?: number;
  /** How long one answer may take, in milliseconds, without the time that calls wait for people at its end. Then it is stopped. Absent: no limit. */
  readonly answerTimeoutMs?: number;
}

/** How model calls that fail are repeated. */
export interface ModelRetries {
  /** How many attempts each model has, from 1. Absent: 3. */
  readonly attempts?: number;
  /** How long the second attempt waits, in milliseconds; later ones wait twice as long as the one before. Absent: 1,000. */
  readonly delayMs?: number;
  /** The models that are asked after the agent's model, in this order. The next call of the agent begins with its own model again. Absent: none. */
  readonly fallback?: readonly string[];
  /** Whether another attempt is made after an error. Absent: after every one. */
  readonly isRetryable?: (error: unknown) => boolean;
}

/** How an agent of a program begins. */
export interface AgentStart extends NewAgent {
  /**
   * The transcript with which it begins, after its system prompt. It is recorded as given (`agent:given`): it is in the agent's transcript and
   * in the input of its model, and the agent did not hear, say or do it here. Each call must have its result.
   */
  readonly initPrompt?: readonly TranscriptMessage[];
}

/** The options of `openSession`. Those of a new session are ignored when one is continued. */
export interface OpenSessionOptions extends SessionRunOptions {
  /** The session to continue, or the id of a new one. Absent: a new one, whose id is minted. */
  readonly dispatchId?: string;
  /** `new`: it must not exist yet. `existing`: it must exist, with its agents. Absent: it is created if it does not exist. */
  readonly expect?: 'new' | 'existing';
  /** Refuses to continue a session of peers. */
  readonly needsRoot?: boolean;
  /** How to wait for a claim whose owner cannot be checked: `waitMs` and `onWait` of `openDispatch`. */
  readonly wait?: Pick<WriteAccess, 'waitMs' | 'onWait'>;
  /**
   * Of a new session: the events with which it begins, such as those of a session log that `@hansard/formats` read. They are one append. A
   * session that is continued must have them: the diagnostic `not_in_log` names what it lacks.
   */
  readonly events?: readonly CapturedEvent[];
  /**
   * Of a new session: `narrative` leaves the inputs and outputs of tools out of its log (D7), while this process shows them to models. A narrative that is
   * continued does not have them any more, and neither has an agent that was evicted: its model reads in their place that they were not kept, and the
   * diagnostic `content_not_kept` counts them. Its prompts can not be rendered again. Absent: `full`.
   */
  readonly fidelity?: Fidelity;
  /** Of a new session: the role in the envelope. Absent: `session`. */
  readonly role?: string;
  /** Of a new session: the bot of the envelope. Absent: none. */
  readonly botId?: string;
  /** Receives the error if the record of the task could not be read or written. Absent: a warning of the process. */
  readonly onTaskProblem?: TaskProblemListener;
  /** Of a new session: the system prompt of the root. */
  readonly systemPrompt?: string | LoggedString;
  /** Of a new session: the transcript with which the root begins, after its system prompt. See `AgentStart`. */
  readonly initPrompt?: readonly TranscriptMessage[];
  /**
   * Of a new session: what came out of earlier dispatches of the task, for its root or each peer: `priorOutcomes` of `@hansard/views`, or of a
   * harness. Recorded before the system prompt, as a prompt of its own that names the dispatches. Absent: nothing.
   */
  readonly priorOutcomes?: GivenOutcomes;
  /**
   * Of a new session: its agents, which are all equals, in place of a root. At least one. One without a model gets `languageModel`. They are created with
   * one append, and `session.createAgent` adds others. An event without `agentId` belongs to the session and to no agent.
   */
  readonly peers?: readonly AgentStart[];
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
    keepsWhole: true,
  };
}

export function contextOptions({ context, tokens }: SessionRunOptions): ContextOptions {
  return {
    ...(context === undefined ? {} : { policy: context }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}
