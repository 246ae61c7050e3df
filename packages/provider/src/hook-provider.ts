import type { JsonValue } from '@hansard/events';
import type { AgentInfo } from './agent-host.ts';
import type { Awaitable } from './awaitable.ts';
import type { ContractVersion } from './contract-version.ts';
import type { HookHost, HookObservation } from './hook-host.ts';
import type { LoggedString } from './logged-string.ts';

/**
 * Takes part in dispatches: it decides about tool calls, results of tools, deliveries, answers and inputs before they happen (`decide`), and
 * observes what happened (`observe`). In both it may inject messages and, in a session, use agents of its own: see {@link HookHost}. A hook has
 * one of the two methods, or both.
 *
 * The callers are runs of `@hansard/dispatch`, which ask about tool calls and about the results of the project's tools, and
 * sessions of `@hansard/session`, which also ask about deliveries from agent to agent, and on request (`decidesOn`) about what is said to a person or a
 * program and what comes from them. What a hook may assume:
 * - The hooks of a question are asked one after the other, in the order of the configuration. The first denial or retry is final; an
 *   alteration is passed to the next hook. After a retry all hooks are asked about the new answer.
 * - Nothing is asked about twice: what an agent says to another agent is a delivery or a result, and what it says to a person or a program an utterance.
 * - Each question is a copy that only this hook has.
 * - The results of an engine's own tools stay in the engine: no hook is asked about them. Nor is it asked about the result of a call
 *   that was denied or interrupted, because no tool gave it.
 * - Observations come in the order of the log, one at a time: the next one after all hooks have observed the one before. The hook
 *   does not observe its own messages and decisions, nor what its own agents do and receive, and is not asked about them.
 * - In a session, no agent calls its model, and no `response` resolves, before all hooks have observed what was recorded until then.
 *   Agents of hooks do not wait.
 * - After a load, a hook observes again what it may not have observed when the session was stopped. What it does then in the same order as before
 *   is not done twice: a message that is recorded is not sent again, and the recorded answer to it is returned.
 *
 * What it must do:
 * - Answer with a {@link HookDecision}, and with `allow` to a question whose `on` it does not know: later versions ask more. Each
 *   decision except a plain `allow` is recorded as `harness:hook_decision`, not later than the call, the result or the
 *   delivery. It names the decision before it (`previous`), and what was decided on names the last one (`via`).
 * - Accept several questions at the same time: calls and agents run in parallel.
 * - Leave the objects of its decision unchanged afterwards; the tool receives the `input` of an alteration itself.
 * - Decide or observe within `hookTimeoutMs` of the run or session, by default five minutes. A later decision is ignored, and the
 *   question is treated as if the hook threw DISPATCH_HOOK_TIMEOUT. If the dispatch or the session is stopped before, the call is not
 *   made, or its result is not passed on.
 *
 * What it may throw: any error. It is recorded as `harness:error`, and the hook is skipped: the other hooks decide (*fail open*).
 * With `required: true` the question is denied instead (*fail closed*). The same happens with what is not a decision, such as a
 * denial without a reason. A `cause` that is not in the log is recorded as `harness:error`, and the decision counts without it.
 * An error of `observe` is recorded too, and nothing else happens.
 */
export interface HookProvider {
  /** The version of this contract that the provider implements. */
  readonly contract: ContractVersion;
  /** Its name in the log and in the reason that a denied agent reads. Two hooks should not have one name. */
  readonly name: string;
  /** Whether a question is denied when this hook fails to decide. Absent: false. A hook that protects something sets it. */
  readonly required?: boolean;
  /**
   * The questions that the hook is asked. Absent: `tool_call`, `tool_result` and `delivery`. With `utterance`, the text of an answer is shown to nobody
   * while it is written: surfaces receive it when the hooks have decided.
   */
  readonly decidesOn?: readonly HookQuestion['on'][];
  /**
   * Decides about one question. It gets no signal: if the dispatch is stopped meanwhile, its decision is ignored. Absent: the hook is
   * never asked.
   */
  decide?(question: HookQuestion, host: HookHost): Awaitable<HookDecision>;
  /** Receives what was recorded. Absent: the hook observes nothing. */
  observe?(observation: HookObservation, host: HookHost): Awaitable<void>;
  /** Releases what the hook holds. Called by its owner when no question is open; a second call does nothing. */
  close?(): Awaitable<void>;
}

export type HookQuestion =
  | ToolCallQuestion
  | ToolResultQuestion
  | DeliveryQuestion
  | UtteranceQuestion
  | InputQuestion;

/** May this call be made? */
export interface ToolCallQuestion {
  readonly on: 'tool_call';
  readonly dispatchId: string;
  /** The agent that makes the call; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonValue;
  /** Every agent of the session so far; empty if the call does not come from a session. */
  readonly agents: readonly AgentInfo[];
  /**
   * The calls of the session that began before this one and have not ended, in that order. A hook that limits what calls do
   * counts them: hooks may have allowed a call whose effect is not visible yet. Empty if the call does not come from a session.
   */
  readonly running: readonly RunningToolCall[];
}

/** A call that hooks were or are asked about, or whose tool runs. */
export interface RunningToolCall {
  readonly agentId: string;
  readonly toolCallId: string;
  readonly tool: string;
  /** How many agents its tool has created so far. They are among the `agents` of a question. */
  readonly created: number;
}

/** May the agent receive this result of its call? */
export interface ToolResultQuestion {
  readonly on: 'tool_result';
  readonly dispatchId: string;
  /** The agent that made the call and receives the result; absent: the dispatched agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  readonly tool: string;
  /** The input with which the tool was called. */
  readonly input: JsonValue;
  /** `error`: the tool failed, and `text` says why. */
  readonly status: 'completed' | 'error';
  /** The text that the model would read. */
  readonly text: string;
  /** Every agent of the session so far; empty if the call does not come from a session. */
  readonly agents: readonly AgentInfo[];
}

/** May this text reach that agent? */
export interface DeliveryQuestion {
  readonly on: 'delivery';
  readonly dispatchId: string;
  /** The agent that said it. Absent: a person or the system; a session does not ask about their messages. */
  readonly from?: string;
  /** The agent that would receive it. */
  readonly to: string;
  readonly text: string;
  readonly agents: readonly AgentInfo[];
}

/**
 * May the agent say this to the person or program that asked it? In a session, about each answer that `Agent.response` would resolve to. If the hook denies, nobody
 * receives the answer, and `response` rejects with SESSION_UTTERANCE_DENIED. Nobody is asked about text beside a tool call.
 */
export interface UtteranceQuestion {
  readonly on: 'utterance';
  readonly dispatchId: string;
  /** The agent that says it. */
  readonly agentId: string;
  readonly text: string;
  /** How many answers to the same question were rejected before this one. */
  readonly rejected: number;
  readonly agents: readonly AgentInfo[];
}

/**
 * May the agent receive this from a person or the outside world? In a session, before the message is recorded. If the hook denies, the agent does not
 * receive it, and the log has it in the decision.
 */
export interface InputQuestion {
  readonly on: 'input';
  readonly dispatchId: string;
  /** The agent that would receive it. */
  readonly agentId: string;
  readonly text: string;
  readonly agents: readonly AgentInfo[];
}

/** What a person is asked about a call. */
export interface PersonQuestion {
  /** Why the person is asked. */
  readonly reason: string;
  /** What the person may answer with, as a hint. Absent: nothing is suggested. */
  readonly choices?: readonly string[];
  /** RFC 3339, UTC, milliseconds. After that time `default` counts. Absent: the call waits without limit. */
  readonly deadline?: string;
  /** Absent: `refuse`. */
  readonly default?: 'approve' | 'refuse';
}

export type HookDecision =
  | { readonly decision: 'allow' }
  /**
   * To a tool call of a session: a person decides. The hooks after this one are asked first, and a denial of theirs counts. Anywhere else, where nobody can be
   * asked, it is a denial.
   */
  | ({ readonly decision: 'ask' } & PersonQuestion)
  /** `reason` is for the agent: it reads it in place of the result of its call. `cause`: as in an alteration. */
  | { readonly decision: 'deny'; readonly reason: string; readonly cause?: string }
  /**
   * To an utterance: nobody receives it, and the agent answers again, with the rejected answer and `reason` in its prompt. After `utteranceTries` answers of the
   * session, and to any other question, it is a denial.
   */
  | { readonly decision: 'retry'; readonly reason: string; readonly cause?: string }
  /**
   * `input` (JSON) replaces the input of a tool call, `text` any other text. An alteration without it is
   * an error.
   */
  | {
      readonly decision: 'alter';
      readonly reason?: string;
      readonly input?: JsonValue;
      readonly text?: string | LoggedString;
      /**
       * The event or message of the log that brought the decision about, such as the utterance of an agent that decides as this
       * hook. It becomes a cause of the recorded decision.
       */
      readonly cause?: string;
    };
