import { accessSync, constants, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createReplayAgent } from '@hansard/agent-claude';
import {
  type Harness,
  inTask,
  LeftRunning,
  type RunOptions,
  resolveSession,
  toTaskDir,
  toTaskName,
} from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import {
  type DispatchEnvelope,
  definedOnly,
  type Fidelity,
  isPlainObject,
  type JsonObject,
  messageOf,
} from '@hansard/events';
import { assertRegularFile } from '@hansard/import';
import type { AgentProvider } from '@hansard/provider';
import { dispatchEnding } from '@hansard/views';
import { Option } from 'commander';
import { agentId, harnessContext, withHarness } from '../harness.ts';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress } from '../terminal/progress.ts';

interface CommandRunOptions extends CommonOptions {
  readonly agent?: string;
  readonly resume?: string;
  readonly withHistory?: boolean;
  readonly schema?: string;
  readonly turns?: number;
  readonly task: string;
  readonly role: string;
  readonly parent?: string;
  readonly bot?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly fidelity: Fidelity;
  readonly delay: number;
  readonly quiet?: boolean;
  readonly view?: boolean;
}

export const addRun: AddCommand = (command, context) => {
  withCommonOptions(command)
    .requiredOption('--task <project/slug>', 'record under this task')
    .option('--role <role>', 'set the role of the dispatched agent', 'agent')
    .option(
      '--parent <session>',
      'record as workers of this session of the task: its id, the end of it, or latest',
    )
    .option('--bot <id>', 'record as sessions of this bot (default: bot of the configuration)')
    .option(
      '--agent <name>',
      'run this agent with the words as its prompt: claude, or the id of a configured plugin',
    )
    .option(
      '--resume <session>',
      'resume an earlier session of the task: its id, the end of it, or latest (with --agent)',
    )
    .option(
      '--with-history',
      'begin the prompt with the outcomes of earlier sessions of the task (with --agent)',
    )
    .option('--schema <file>', 'request a result of this JSON Schema (with --agent)')
    .option(
      '--turns <n>',
      'limit the turns of the agent (with --agent)',
      parseCount({ from: 1, example: 20 }),
    )
    .option('--model <model>', 'request this model from the agent')
    .option('--cwd <folder>', 'let the agent work in this folder')
    .addOption(
      new Option('--fidelity <fidelity>', 'record tool input and output (full) or omit it (narrative)')
        .choices(['narrative', 'full'])
        .default('narrative'),
    )
    .option('--delay <ms>', 'wait this long before each message of a stream', parseCount({ example: 100 }), 0)
    .option('-q, --quiet', 'print no events while recording')
    .option('--view', 'serve a page of this machine that shows the run, and print its address')
    .addHelpText(
      'after',
      '\nThe page of --view ends with the run. Anyone with its address can read everything in the store, send messages to the agents and stop them.\n\nExamples:\n  hansard run stream.jsonl --task research/route-models --role ts-dev\n  hansard run worker.jsonl --task research/route-models --role tester --parent 4K7Q --quiet\n  hansard run "Say which models we route to." --agent claude --task research/route-models\n  hansard run "Continue." --agent claude --task research/route-models --resume latest\n  hansard run "Test the routes." --agent claude --task research/route-models --view',
    )
    .action(async (words: string[], options: CommandRunOptions) => {
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'record' : 'live';
      const { config, root, agent, view } = options;
      await withHarness(context, { config, root, load, agent, view }, async (harness) => {
        const nobodyShows = harness.plugins.providers('CommunicationProvider').length === 0;
        const isUnseen = quiet || nobodyShows;
        const ended = recordAll(context, harness, words, options, isUnseen);
        await printAnswer(context, options, { rows: ended, text: endLines(ended, isUnseen) });
      });
    });
};

/** A line for each ended dispatch, unless its events were shown. */
async function* endLines(ended: AsyncIterable<DispatchEnvelope>, isUnseen: boolean): AsyncGenerator<string> {
  for await (const { dispatchId, status } of ended) if (isUnseen) yield `${dispatchId} ${status}`;
}

/** Records each stream, or the agent, and yields its session when it has ended. @throws CliError if one is not `completed` */
async function* recordAll(
  context: CliContext,
  harness: Harness,
  words: readonly string[],
  options: CommandRunOptions,
  quiet: boolean,
): AsyncGenerator<DispatchEnvelope> {
  const taskDir = toTaskDir(options.task);
  const plan = planRuns(context, harness, words, options);
  const { role, parent, model, cwd, bot, fidelity } = options;
  if (parent !== undefined) await resolveSession(harness.store, inTask(taskDir, parent));
  await using _left = await LeftRunning.close(harnessContext(context), harness.store, taskDir);
  const ended: DispatchEnvelope[] = [];
  for (const { what, ...run } of plan) {
    const progress = quiet ? createProgress(context, `recording ${what}`) : null;
    const envelope = await harness
      .run({
        ...{ task: taskDir, role, fidelity, ...run },
        ...definedOnly({ parent, model, cwd, bot }),
        ...(progress === null ? {} : { onActivity: (count) => progress.update(count) }),
      })
      .finally(() => progress?.end());
    ended.push(envelope);
    yield envelope;
    if (context.signal.aborted) break;
  }
  await reportBadEnds(harness.store, taskDir, ended);
}

/** One session that the command records. */
type PlannedRun = Pick<
  RunOptions,
  'agent' | 'prompt' | 'resume' | 'withHistory' | 'outputSchema' | 'turns'
> & { readonly what: string };

function planRuns(
  context: CliContext,
  harness: Harness,
  words: readonly string[],
  { agent, resume, withHistory, schema, turns, delay }: CommandRunOptions,
): PlannedRun[] {
  if (agent === undefined) {
    assertNoAgentOptions({ resume, withHistory, schema, turns });
    return words.map((word) => ({ what: word, agent: streamAgent(context, word, delay) }));
  }
  const id = agentId(agent);
  // Refused before anything is recorded.
  harness.agent(id);
  const outputSchema = schema === undefined ? undefined : readSchema(resolve(context.cwd, schema));
  return [
    {
      what: agent,
      agent: id,
      prompt: words.join(' '),
      ...definedOnly({ resume, withHistory, outputSchema, turns }),
    },
  ];
}

/** Refuses options that need `--agent`. @throws CliError */
function assertNoAgentOptions(options: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(options).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new CliError(
    exitCode.usage,
    `--${given === 'withHistory' ? 'with-history' : given} applies to a running agent, not to recorded streams.`,
    'Name the agent with --agent ID, and give its prompt instead of streams.',
  );
}

/** An agent that plays a recorded stream, which is checked before anything is recorded. */
function streamAgent({ cwd }: CliContext, word: string, delayMs: number): AgentProvider {
  const path = resolve(cwd, word);
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new CliError(
      exitCode.failed,
      `The stream ${path} can't be read: ${messageOf(cause)}`,
      'Check the path, or add --agent claude to run an agent with these words. Nothing was recorded.',
      { cause },
    );
  }
  assertRegularFile(path);
  return createReplayAgent({ path, delayMs });
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

/** How many of the last events can contain the stop: an agent may still work for a while after it. */
const lookBack = 500;

/** Reports each dispatch that is not `completed`, with the reason. @throws CliError if there is one */
export async function reportBadEnds(
  store: DispatchStore,
  taskDir: string,
  ended: readonly DispatchEnvelope[],
): Promise<void> {
  const bad = ended.filter(({ status }) => status !== 'completed');
  if (bad.length === 0) return;
  const reports: string[] = [];
  for (const { role, dispatchId, status } of bad) {
    const { events } = await (await store.openDispatch({ taskDir, dispatchId })).last(lookBack);
    const { trouble } = dispatchEnding({ status }, events);
    const why = trouble === null ? '' : `: ${trouble}`;
    reports.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    reports.join('\n  '),
    `The log has everything up to that point: \`hansard show ${toTaskName(taskDir)}/${bad[0]?.dispatchId}\`.`,
  );
}
