import { resolve } from 'node:path';
import { type RunDispatchOptions, runDispatch } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type Fidelity } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { Option } from 'commander';
import { dispatchLimits } from '../dispatch-limits.ts';
import { type Harness, withHarness } from '../harness.ts';
import { LeftRunning } from '../run/left-running.ts';
import { type AgentOptions, assertNoAgentOptions, planAgent } from '../run/plan-agent.ts';
import { type PlannedRun, planStreams } from '../run/planned-run.ts';
import { reportBadEnds } from '../run/report-bad-ends.ts';
import { withHistory } from '../run/with-history.ts';
import { noteTaskProblem } from '../tasks/ensure-task.ts';
import { findSession, inTask } from '../tasks/find-session.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { printAnswer } from '../terminal/answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';

interface RunOptions extends CommonOptions, AgentOptions {
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
    .action(async (words: string[], options: RunOptions) => {
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'live without communication' : 'live';
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

/** Records the planned dispatches and yields each when it has ended. @throws CliError if one is not `completed` */
async function* recordAll(
  context: CliContext,
  harness: Harness,
  words: readonly string[],
  options: RunOptions,
  quiet: boolean,
): AsyncGenerator<DispatchEnvelope> {
  const taskDir = toTaskDir(options.task);
  const plan = await planRuns(context, harness, taskDir, words, options);
  const parent =
    options.parent === undefined ? null : await findSession(harness.store, inTask(taskDir, options.parent));
  await using _left = await LeftRunning.close(context, harness.store, taskDir);
  const ended: DispatchEnvelope[] = [];
  for (const { what, ...as } of plan) {
    const progress = quiet ? createProgress(context, `recording ${what}`) : null;
    const planned = progress === null ? as : counting(as, progress);
    const dispatch: RunDispatchOptions = {
      store: harness.store,
      taskDir,
      agent: planned.agent,
      role: options.role,
      onTaskProblem: (error) => noteTaskProblem(context, error),
      communication: harness.communication,
      signal: context.signal,
      fidelity: options.fidelity,
      ...dispatchLimits(harness.loaded.config),
      ...(parent === null ? {} : { parentDispatchId: parent.dispatchId }),
      ...(options.withHistory ? await withHistory(harness.store, taskDir, planned.options) : planned.options),
      ...definedOnly({ model: options.model, botId: options.bot ?? harness.loaded.config.bot }),
      ...(options.cwd === undefined ? {} : { cwd: resolve(context.cwd, options.cwd) }),
    };
    const envelope = await runDispatch(dispatch).finally(() => progress?.end());
    ended.push(envelope);
    yield envelope;
    if (context.signal.aborted) break;
  }
  await reportBadEnds(harness.store, taskDir, ended);
}

async function planRuns(
  context: CliContext,
  harness: Harness,
  taskDir: string,
  words: readonly string[],
  { agent, ...options }: RunOptions,
): Promise<PlannedRun[]> {
  if (agent !== undefined)
    return [await planAgent(context, harness, taskDir, words.join(' '), { ...options, agent })];
  assertNoAgentOptions(options);
  return planStreams(context, words, options.delay);
}

type RunningAs = Pick<PlannedRun, 'agent' | 'options'>;

/** Makes the agent report its progress, including when it runs as a worker. */
function counting({ agent, options }: RunningAs, progress: Progress): RunningAs {
  const counted = countingAgent(agent, progress);
  const agents = Object.entries(options.workers?.agents ?? {}).map(([id, other]) => [
    id,
    other === agent ? counted : other,
  ]);
  const workers = { ...options.workers, agents: Object.fromEntries(agents) };
  return { agent: counted, options: options.workers === undefined ? options : { ...options, workers } };
}

function countingAgent(agent: AgentProvider, progress: Progress): AgentProvider {
  const { recordedStart } = agent;
  return {
    contract: agent.contract,
    ...(recordedStart === undefined ? {} : { recordedStart: recordedStart.bind(agent) }),
    async *run(request) {
      let count = 0;
      for await (const activity of agent.run(request)) {
        count += 1;
        progress.update(count);
        yield activity;
      }
    },
  };
}
