import { resolve } from 'node:path';
import {
  type DispatchRun,
  type MessageSource,
  type RunDispatchOptions,
  startDispatch,
} from '@hansard/dispatch';
import {
  createIdSource,
  type DispatchEnvelope,
  definedOnly,
  type Fidelity,
  isEventOf,
  type JsonObject,
} from '@hansard/events';
import type { AgentProvider, IncomingTask } from '@hansard/provider';
import type { HarnessConfig } from '../configuration.ts';
import { inWords, noteTo } from '../context.ts';
import { harnessErrors } from '../harness-errors.ts';
import { agentOf, noteUncountedCost, type OpenParts } from '../open-parts.ts';
import { inTask, openNamed, resolveSession } from '../sessions/resolve-session.ts';
import { toTaskDir, toTaskName } from '../sessions/task-name.ts';
import { earlierOutcomes } from './earlier-outcomes.ts';

/** What a program asks of a run. */
export interface RunOptions {
  /** The task, as PROJECT/SLUG or a whole `taskDir`. */
  readonly task: string;
  /** The id of the plugin of an agent, or an agent of the program. */
  readonly agent: string | AgentProvider;
  /** What the agent is asked. Absent: it has its own, such as a recorded stream. */
  readonly prompt?: string;
  /** Absent: `agent`. */
  readonly role?: string;
  /** The session of the task that it is a worker of: its id, the end of it, or `latest`. */
  readonly parent?: string;
  /** The earlier session of the task that the agent resumes: its id, the end of it, or `latest`. */
  readonly resume?: string;
  /** Gives the agent the outcomes of earlier sessions of the task, before the prompt. */
  readonly withHistory?: boolean;
  /** The JSON Schema of the result. */
  readonly outputSchema?: JsonObject;
  /** The most turns of this agent, but not of its workers. */
  readonly turns?: number;
  readonly model?: string;
  /** The folder that the agent works in, relative to that of the harness. */
  readonly cwd?: string;
  /** Absent: the bot of the configuration. */
  readonly bot?: string;
  /** Absent: `narrative`. */
  readonly fidelity?: Fidelity;
  /** Receives the number of activities so far, of the agent and of workers that are the same agent. */
  readonly onActivity?: (count: number) => void;
}

export async function runInHarness(harness: OpenParts, options: RunOptions): Promise<DispatchEnvelope> {
  const run = await startInHarness(harness, options);
  const envelope = await run.ended;
  noteUncountedCost(harness, envelope);
  return envelope;
}

/** Begins a task of a communication provider. @throws HARNESS_NAME_INVALID, HARNESS_PROVIDER_UNKNOWN */
export async function beginIncoming(
  harness: OpenParts,
  { agent, project, role }: NonNullable<HarnessConfig['incomingTasks']>,
  { prompt, task = createIdSource()().toLowerCase(), source }: IncomingTask,
): Promise<DispatchRun & { readonly taskDir: string }> {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u.test(task))
    throw harnessErrors.error('HARNESS_NAME_INVALID', `${JSON.stringify(task)} is not the slug of a task.`, {
      advice:
        'Begin it with a letter or a digit, and use letters, digits, dots, hyphens and underscores: at most 100.',
    });
  const name = `${project}/${task}`;
  const run = await startInHarness(harness, { task: name, agent, prompt, ...definedOnly({ role }) }, source);
  return { ...run, taskDir: toTaskDir(name) };
}

async function startInHarness(
  harness: OpenParts,
  options: RunOptions,
  promptSource?: MessageSource,
): Promise<DispatchRun> {
  const { store, context, communication, loaded } = harness;
  const { config } = loaded;
  const taskDir = toTaskDir(options.task);
  const parent =
    options.parent === undefined ? null : await resolveSession(store, inTask(taskDir, options.parent));
  const { prompt = '', withHistory } = options;
  return startDispatch({
    store,
    taskDir,
    role: options.role ?? 'agent',
    communication,
    fidelity: options.fidelity ?? 'narrative',
    onTaskProblem: (error) =>
      noteTo(
        context,
        `hansard: ${inWords(error)}\n  Only listings need the record of a task; recording continues.`,
      ),
    ...dispatchLimits(config),
    ...(await asOf(harness, taskDir, options)),
    ...(prompt === '' ? {} : { prompt }),
    ...(withHistory === true ? { priorOutcomes: await earlierOutcomes(store, taskDir) } : {}),
    ...definedOnly({ promptSource }),
    ...(parent === null ? {} : { parentDispatchId: parent.dispatchId }),
    ...definedOnly({ model: options.model, botId: options.bot ?? config.bot, signal: context.signal }),
    ...(options.cwd === undefined ? {} : { cwd: resolve(context.cwd, options.cwd) }),
  });
}

/** The limits of every dispatch, by the configuration. */
export function dispatchLimits({
  limits: { hookMs: hookTimeoutMs, ...limits },
  loopDetector,
}: HarnessConfig): Pick<RunDispatchOptions, 'limits' | 'loopDetector' | 'hookTimeoutMs'> {
  return { limits: definedOnly(limits), ...definedOnly({ loopDetector, hookTimeoutMs }) };
}

/** The agent and what it has: an agent of the program alone, or one of the configuration with its tools, hooks and workers. */
async function asOf(
  harness: OpenParts,
  taskDir: string,
  { agent, resume, outputSchema, turns, onActivity }: RunOptions,
): Promise<Pick<RunDispatchOptions, 'agent'> & Partial<RunDispatchOptions>> {
  const { plugins, loaded } = harness;
  const { limits } = dispatchLimits(loaded.config);
  const resumed = resume === undefined ? {} : await resumeFrom(harness, taskDir, resume);
  const asked = {
    ...definedOnly({ outputSchema }),
    ...(turns === undefined ? {} : { limits: { ...limits, turns } }),
    ...resumed,
  };
  const own = typeof agent === 'string' ? agentOf(harness, agent) : agent;
  const counted = onActivity === undefined ? own : countingAgent(own, onActivity);
  if (typeof agent !== 'string') return { agent: counted, ...asked };
  const agents = plugins
    .providers('AgentProvider')
    .map(({ id, provider }) => [id, provider === own ? counted : provider] as const);
  return {
    agent: counted,
    tools: plugins.providers('ToolProvider').map((entry) => entry.provider),
    hooks: plugins.providers('HookProvider').map((entry) => entry.provider),
    workers: {
      agents: Object.fromEntries(agents),
      ...definedOnly({ limits }),
      ...definedOnly(loaded.config.workers),
    },
    ...asked,
  };
}

/** The last session that the agent of an earlier dispatch began, and the folder of that session. */
async function resumeFrom(
  { store }: OpenParts,
  taskDir: string,
  wanted: string,
): Promise<Pick<RunDispatchOptions, 'resumeSessionId' | 'cwd'>> {
  const { log } = await openNamed(store, inTask(taskDir, wanted));
  let found: { readonly sessionId: string; readonly cwd?: string | undefined } | null = null;
  for await (const { event } of log.events({ types: ['session:init'] })) {
    if (isEventOf(event, 'session:init') && event.agentId === undefined) found = event.data;
  }
  if (found === null)
    throw harnessErrors.error(
      'HARNESS_NOT_RESUMABLE',
      `The session ${log.dispatchId} of ${toTaskName(taskDir)} can't be resumed: its log has no session:init.`,
      { advice: 'Name a session whose log has one, or run without --resume.' },
    );
  const cwd = found.cwd ?? log.envelope.cwd;
  return { resumeSessionId: found.sessionId, ...(cwd === null ? {} : { cwd }) };
}

function countingAgent(agent: AgentProvider, onActivity: (count: number) => void): AgentProvider {
  const { recordedStart, takesMessages } = agent;
  return {
    contract: agent.contract,
    ...definedOnly({ takesMessages }),
    ...(recordedStart === undefined ? {} : { recordedStart: recordedStart.bind(agent) }),
    async *run(request) {
      let count = 0;
      for await (const activity of agent.run(request)) {
        count += 1;
        onActivity(count);
        yield activity;
      }
    },
  };
}
