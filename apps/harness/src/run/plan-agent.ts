import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DispatchStore, RunDispatchOptions } from '@hansard/dispatch';
import { definedOnly, isEventOf, isPlainObject, type JsonObject, messageOf } from '@hansard/events';
import { dispatchLimits } from '../dispatch-limits.ts';
import type { Harness } from '../harness.ts';
import { inTask, openSession } from '../tasks/find-session.ts';
import { toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';
import type { PlannedRun } from './planned-run.ts';

/** The options of `hansard run` that apply only to a running agent, not to recorded streams. */
export interface AgentOptions {
  readonly agent?: string;
  readonly resume?: string;
  readonly withHistory?: boolean;
  readonly schema?: string;
  readonly turns?: number;
}

/** Plans the dispatch of a configured agent with the configured tools and hooks; the configured agents can be its workers. */
export async function planAgent(
  context: CliContext,
  harness: Harness,
  taskDir: string,
  prompt: string,
  { agent, resume, schema, turns }: AgentOptions & { readonly agent: string },
): Promise<PlannedRun> {
  const { plugins, loaded, store } = harness;
  const { limits } = dispatchLimits(loaded.config);
  const agents = plugins.providers('AgentProvider').map(({ id, provider }) => [id, provider] as const);
  const provider = harness.agent(agent);
  return {
    what: agent,
    agent: provider,
    options: {
      prompt,
      tools: plugins.providers('ToolProvider').map((entry) => entry.provider),
      hooks: plugins.providers('HookProvider').map((entry) => entry.provider),
      // --turns limits the named agent, not its workers.
      workers: { agents: Object.fromEntries(agents), ...definedOnly({ limits }) },
      ...(turns === undefined ? {} : { limits: { ...limits, turns } }),
      ...(schema === undefined ? {} : { outputSchema: readSchema(resolve(context.cwd, schema)) }),
      ...(resume === undefined ? {} : await resumeFrom(store, taskDir, resume)),
    },
  };
}

/** Refuses options that need `--agent`. @throws CliError */
export function assertNoAgentOptions(options: AgentOptions): void {
  const given = (['resume', 'withHistory', 'schema', 'turns'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (given === undefined) return;
  throw new CliError(
    exitCode.usage,
    `--${given === 'withHistory' ? 'with-history' : given} applies to a running agent, not to recorded streams.`,
    'Name the agent with --agent ID, and give its prompt instead of streams.',
  );
}

/** The last session that the agent of an earlier dispatch began, and the folder of that session. */
async function resumeFrom(
  store: DispatchStore,
  taskDir: string,
  wanted: string,
): Promise<Pick<RunDispatchOptions, 'resumeSessionId' | 'cwd'>> {
  const { log } = await openSession(store, inTask(taskDir, wanted));
  let found: { readonly sessionId: string; readonly cwd?: string | undefined } | null = null;
  for await (const { event } of log.events({ types: ['session:init'] })) {
    if (isEventOf(event, 'session:init') && event.agentId === undefined) found = event.data;
  }
  if (found === null) {
    throw new CliError(
      exitCode.failed,
      `The session ${log.dispatchId} of ${toTaskName(taskDir)} can't be resumed: its log has no session:init.`,
      'Name a session whose log has one, or run without --resume.',
    );
  }
  const cwd = found.cwd ?? log.envelope.cwd;
  return { resumeSessionId: found.sessionId, ...(cwd === null ? {} : { cwd }) };
}

function readSchema(path: string): JsonObject {
  const wrong = (problem: string, cause?: unknown) =>
    new CliError(
      exitCode.usage,
      `The schema ${path} ${problem}`,
      'Name a file that contains a JSON Schema (a JSON object). Nothing was recorded.',
      { cause },
    );
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw wrong(`can't be read: ${messageOf(cause)}`, cause);
  }
  if (!isPlainObject(value)) throw wrong('is not a JSON object.');
  return value as JsonObject;
}
