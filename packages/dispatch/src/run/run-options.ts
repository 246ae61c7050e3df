import { type Fidelity, findNotJson, isPlainObject, type JsonObject } from '@hansard/events';
import type { AgentProvider, Clock, HookProvider, ToolProvider } from '@hansard/provider';
import { assertCount } from '../check-arguments.ts';
import type { CommunicationHub } from '../communication/communication-hub.ts';
import type { LoopLimits } from '../limits/loop-detector.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import type { TaskProblemListener } from '../store/ensure-task-record.ts';
import type { MessageSource } from './dispatch-run.ts';
import type { RunLimits } from './run-limits.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The outcomes of earlier dispatches of the task, such as `priorOutcomes` of `@hansard/views` gives them. */
export interface GivenOutcomes {
  /** '': there is none. */
  readonly text: string;
  readonly dispatchIds: readonly string[];
}

export interface RunDispatchOptions {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly agent: AgentProvider;
  readonly role: string;
  /** The task for the agent; recorded as the first `user:message`. */
  readonly prompt?: string;
  /** Who asked. Absent: a person, or the dispatch that starts this one. */
  readonly promptSource?: MessageSource;
  /**
   * What came out of earlier dispatches of the task. The agent receives it before the prompt; recorded before the prompt, as an
   * `agent:system_prompt` that names the dispatches. Absent: nothing.
   */
  readonly priorOutcomes?: GivenOutcomes;
  readonly model?: string;
  readonly cwd?: string;
  /** The dispatch of the same task that starts this one (D4). */
  readonly parentDispatchId?: string;
  readonly botId?: string;
  /** Absent: `narrative` (D7). */
  readonly fidelity?: Fidelity;
  /** Absent: minted. */
  readonly dispatchId?: string;
  /** Offered to the agent and its workers. Listed once. If two providers have a tool of one name, the first provider's tool is used. */
  readonly tools?: readonly ToolProvider[];
  /** Asked about each call of a tool, in this order. They observe what was recorded, in this order too. */
  readonly hooks?: readonly HookProvider[];
  /** How long a hook may take for a decision or an observation, in milliseconds; false: no limit. Absent: 300,000, five minutes. */
  readonly hookTimeoutMs?: number | false;
  /** How many messages of hooks may bring each other about in a row. Absent: 8. */
  readonly maxHookChain?: number;
  /** The workers that the agent may start through tools. Absent: none. */
  readonly workers?: WorkerOptions;
  /** JSON Schema of the result that the agent is asked for. */
  readonly outputSchema?: JsonObject;
  /** The agent's own session that it resumes, as a `session:init` of an earlier dispatch names it. */
  readonly resumeSessionId?: string;
  /** Receives the error if the record of the task could not be read or written. Absent: a warning of the process. */
  readonly onTaskProblem?: TaskProblemListener;
  /** Shows the events, and delivers messages to the agent. */
  readonly communication?: CommunicationHub;
  /** Aborts the dispatch, and its workers until the last one has ended. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly limits?: RunLimits;
  /** Absent: `defaultLoopLimits`. */
  readonly loopDetector?: LoopLimits | false;
  /** How long a stopped agent may take to end, in milliseconds; then the run ends without it. Absent: 5,000. */
  readonly graceMs?: number;
}

/** What a watched dispatch and its workers have in common. */
export type WatchedOptions = Pick<
  RunDispatchOptions,
  | 'store'
  | 'taskDir'
  | 'communication'
  | 'clock'
  | 'limits'
  | 'loopDetector'
  | 'graceMs'
  | 'tools'
  | 'hooks'
  | 'hookTimeoutMs'
  | 'maxHookChain'
  | 'workers'
> & {
  /** The agent of a worker that is given none. Absent: such a worker has the only one of `workers.agents`. */
  readonly agent?: AgentProvider;
};

/** @throws TypeError for an invalid limit or schema */
export function checkRunOptions({ outputSchema = {}, ...options }: RunDispatchOptions): void {
  checkWatchedOptions(options);
  if (!isPlainObject(outputSchema) || findNotJson(outputSchema) !== null)
    throw new TypeError('outputSchema must be a JSON Schema, an object that JSON can hold.');
}

/** @throws TypeError for an invalid limit of a run or a session */
export function checkWatchedOptions({
  limits = {},
  workers = {},
  loopDetector,
  graceMs = 0,
  hookTimeoutMs,
  maxHookChain,
}: Pick<
  RunDispatchOptions,
  'limits' | 'workers' | 'loopDetector' | 'graceMs' | 'hookTimeoutMs' | 'maxHookChain'
>): void {
  checkLimits({ ...limits, graceMs, ...(hookTimeoutMs === false ? {} : { hookTimeoutMs }) });
  checkLimits(workers.limits ?? {});
  if (maxHookChain !== undefined) assertCount('maxHookChain', maxHookChain, 0);
  if (workers.maxRunning !== undefined) assertCount('maxRunning', workers.maxRunning, 1);
  if (workers.maxDepth !== undefined) assertCount('maxDepth', workers.maxDepth, 0);
  if (workers.maxMessages !== undefined) assertCount('maxMessages', workers.maxMessages, 0);
  if (!['parent', 'all', undefined].includes(workers.messages))
    throw new TypeError(`messages must be parent or all; it is ${String(workers.messages)}.`);
  checkLoopLimits(loopDetector);
}

function checkLimits({
  turns,
  ...limits
}: RunLimits & { readonly graceMs?: number; readonly hookTimeoutMs?: number | undefined }): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (limit !== undefined && !(Number.isFinite(limit) && limit >= 0))
      throw new TypeError(`${name} must be a number from 0; it is ${String(limit)}.`);
  }
  if (turns !== undefined) assertCount('turns', turns, 1);
}

function checkLoopLimits(loopDetector: LoopLimits | false | undefined): void {
  if (loopDetector === undefined || loopDetector === false) return;
  const { window, warnAt, killAt } = loopDetector;
  if (
    [window, warnAt, killAt].every(Number.isSafeInteger) &&
    1 <= warnAt &&
    warnAt <= killAt &&
    killAt <= window
  )
    return;
  throw new TypeError(
    `loopDetector needs whole numbers with 1 <= warnAt <= killAt <= window; it has ${warnAt}, ${killAt}, ${window}.`,
  );
}
