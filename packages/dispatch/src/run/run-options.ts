import { type Fidelity, findNotJson, isPlainObject, type JsonObject } from '@hansard/events';
import type { AgentProvider, Clock, HookProvider, ToolProvider } from '@hansard/provider';
import type { CommunicationHub } from '../communication/communication-hub.ts';
import { dispatchErrors } from '../dispatch-errors.ts';
import type { LoopLimits } from '../limits/loop-detector.ts';
import { checkOptions, type OptionCheck, optionChecks } from '../option-checks.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';
import type { TaskProblemListener } from '../store/ensure-task-record.ts';
import type { MessageSource } from './dispatch-run.ts';
import type { RunLimits, WorkerOptions } from './worker-options.ts';

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

/** What a watched dispatch may be given, whether it is a run or a session. */
export function watchedChecks(
  limits: readonly (keyof RunLimits)[],
): Readonly<Record<Exclude<keyof WatchedOptions, 'agent'> | 'signal' | 'priorOutcomes', OptionCheck>> {
  return {
    store: having('openDispatch', 'beginDispatch'),
    taskDir: word,
    communication: having('attach'),
    clock: having('now', 'after'),
    limits: limitsCheck(limits),
    loopDetector: orFalse(loopCheck),
    graceMs: amount,
    tools: list(having('listTools', 'callTool')),
    hooks: list(having()),
    hookTimeoutMs: orFalse(amount),
    maxHookChain: count(0),
    workers: fields({
      agents: fields({}, [], having('run')),
      limits: limitsCheck(runLimitNames),
      maxRunning: count(1),
      maxDepth: count(0),
      messages: oneOf('parent', 'all'),
      maxMessages: count(0),
    }),
    signal: having('addEventListener'),
    priorOutcomes: fields({ text, dispatchIds: list(word) }, ['text', 'dispatchIds'], any),
  };
}

const { amount, any, call, count, fields, having, list, oneOf, orFalse, text, word } = optionChecks;

const runLimitNames = [
  'timeMs',
  'stallMs',
  'costUsd',
  'turns',
] as const satisfies readonly (keyof RunLimits)[];

function limitsCheck(names: readonly (keyof RunLimits)[]): OptionCheck {
  return fields(Object.fromEntries(names.map((name) => [name, name === 'turns' ? count(1) : amount])));
}

const loopNumbers = fields({ window: count(1), warnAt: count(1), killAt: count(1) }, [
  'window',
  'warnAt',
  'killAt',
]);

const loopCheck: OptionCheck = (value) => {
  const found = loopNumbers(value);
  if (found !== null) return found;
  const { window, warnAt, killAt } = value as LoopLimits;
  if (warnAt <= killAt && killAt <= window) return null;
  const problem = `needs warnAt <= killAt <= window; it has ${warnAt}, ${killAt}, ${window}`;
  return { path: '', problem };
};

const jsonSchemaCheck: OptionCheck = (value) =>
  isPlainObject(value) && findNotJson(value) === null
    ? null
    : { path: '', problem: 'must be a JSON Schema, an object that JSON can hold' };

const runCheck = fields(
  {
    ...watchedChecks(runLimitNames),
    agent: having('run'),
    // The envelope is checked when it is made.
    role: any,
    model: any,
    cwd: any,
    parentDispatchId: any,
    botId: any,
    fidelity: any,
    dispatchId: any,
    prompt: text,
    promptSource: having(),
    outputSchema: jsonSchemaCheck,
    resumeSessionId: word,
    onTaskProblem: call,
  } satisfies Record<keyof RunDispatchOptions, OptionCheck>,
  ['store', 'taskDir', 'agent', 'role'],
);

/** @throws DISPATCH_OPTION_INVALID */
export function checkRunOptions(options: RunDispatchOptions): void {
  checkOptions(options, runCheck, (option, problem) =>
    dispatchErrors.error('DISPATCH_OPTION_INVALID', `The run was not begun: ${problem}`, {
      details: { option },
    }),
  );
}
