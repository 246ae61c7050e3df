import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { createReplayAgent } from '@hansard/agent-claude';
import {
  closeAbandonedDispatches,
  type DispatchStore,
  type RunDispatchOptions,
  runDispatch,
} from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope, Fidelity } from '@hansard/events';
import type { AgentProvider } from '@hansard/provider';
import { eventLine } from '@hansard/views';
import { Option } from 'commander';
import { CliError, exitCode } from '../cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../command.ts';
import { type CliContext, note, printJson, printLine } from '../context.ts';
import { dispatchLimits } from '../dispatch-limits.ts';
import { ensureTask } from '../ensure-task.ts';
import { findDispatch } from '../find-dispatch.ts';
import { type Harness, openHarness } from '../harness.ts';
import { parseCount } from '../parse-count.ts';
import { createProgress, type Progress } from '../progress.ts';
import { toTaskDir, toTaskName } from '../task-name.ts';

interface RunOptions extends CommonOptions {
  readonly task: string;
  readonly role: string;
  readonly parent?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly fidelity: Fidelity;
  readonly delay: number;
  readonly quiet?: boolean;
}

/** The events that tell why a dispatch did not end by itself. */
const endings: ReadonlySet<string> = new Set([
  'harness:error',
  'harness:abort',
  'harness:timeout',
  'harness:stall',
  'harness:loop_kill',
]);

interface PlannedRun {
  readonly agent: AgentProvider;
  readonly prompt?: string;
  readonly what: string;
}

export const addRun: AddCommand = (program, context) => {
  withCommonOptions(program.command('run <stream...>'))
    .description(
      'record dispatches: each recorded stream (.jsonl of Agent SDK messages) is played as if it ran now',
    )
    .requiredOption('--task <project/slug>', 'the task that the dispatches belong to')
    .option('--role <role>', 'the role of the dispatched agent', 'agent')
    .option('--parent <dispatch>', 'the dispatch of that task which started these')
    .option(
      '--agent <id>',
      'run this agent (a plugin of the configuration) with the words as its prompt, instead of streams',
    )
    .option('--model <model>', 'the model to ask the agent for')
    .option('--cwd <folder>', 'the folder that the agent works in')
    .addOption(
      new Option('--fidelity <fidelity>', 'with tool input and output (full) or without')
        .choices(['narrative', 'full'])
        .default('narrative'),
    )
    .option('--delay <ms>', 'wait that long before each message of a stream', parseCount, 0)
    .option('-q, --quiet', 'show no events while recording')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard run stream.jsonl --task research/route-models --role ts-dev\n  hansard run worker.jsonl --task research/route-models --role tester --parent 4K7Q --quiet',
    )
    .action(async (words: string[], options: RunOptions) => {
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'live without communication' : 'live';
      const harness = await openHarness(context, { config: options.config, load });
      try {
        const nobodyShows = harness.plugins.providers('CommunicationProvider').length === 0;
        await recordAll(context, harness, words, options, quiet || nobodyShows);
      } finally {
        await harness.close();
      }
    });
};

async function recordAll(
  context: CliContext,
  harness: Harness,
  words: readonly string[],
  options: RunOptions,
  quiet: boolean,
): Promise<void> {
  const taskDir = toTaskDir(options.task);
  const plan = planRuns(context, harness, words, options);
  const parent =
    options.parent === undefined ? null : await findDispatch(harness.store, taskDir, options.parent);
  await ensureTask(harness.store, taskDir);
  for (const { dispatchId, role } of await closeAbandonedDispatches(harness.store, taskDir)) {
    note(
      context,
      `hansard: ${role} ${dispatchId} was left running by a process that died; it is now crashed, with all that was recorded.`,
    );
  }
  const ended: DispatchEnvelope[] = [];
  for (const planned of plan) {
    const progress = quiet ? createProgress(context, `recording ${planned.what}`) : null;
    const dispatch: RunDispatchOptions = {
      store: harness.store,
      taskDir,
      agent: progress === null ? planned.agent : countingAgent(planned.agent, progress),
      role: options.role,
      communication: harness.communication,
      signal: context.signal,
      fidelity: options.fidelity,
      ...dispatchLimits(harness.loaded.config),
      ...(parent === null ? {} : { parentDispatchId: parent.dispatchId }),
      ...(planned.prompt === undefined ? {} : { prompt: planned.prompt }),
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.cwd === undefined ? {} : { cwd: resolve(context.cwd, options.cwd) }),
    };
    const envelope = await runDispatch(dispatch).finally(() => progress?.end());
    ended.push(envelope);
    if (options.json) printJson(context, envelope);
    else if (quiet) printLine(context, `${envelope.dispatchId} ${envelope.status}`);
    if (context.signal.aborted) break;
  }
  await tellBadEnds(harness.store, taskDir, ended);
}

async function tellBadEnds(
  store: DispatchStore,
  taskDir: string,
  ended: readonly DispatchEnvelope[],
): Promise<void> {
  const bad = ended.filter(({ status }) => status !== 'completed');
  if (bad.length === 0) return;
  const told: string[] = [];
  for (const { role, dispatchId, status } of bad) {
    const events = await store.getRecentEvents(taskDir, dispatchId, 20);
    const end = events.findLast(({ type }) => endings.has(type));
    const why = end === undefined ? '' : `: ${reasonOf(end)}`;
    told.push(`${role} ${dispatchId} ${status === 'aborted' ? 'was aborted' : status}${why}`);
  }
  throw new CliError(
    exitCode.failed,
    told.join('\n  '),
    `It is recorded up to there: \`hansard show ${toTaskName(taskDir)} ${bad[0]?.dispatchId}\`.`,
  );
}

function reasonOf(event: CapturedEvent): string {
  const { kind, target, text } = eventLine(event);
  return [kind, target, text].filter((part) => part !== '').join(' ');
}

function planRuns(
  context: CliContext,
  harness: Harness,
  words: readonly string[],
  options: RunOptions,
): PlannedRun[] {
  if (options.agent !== undefined) {
    return [{ agent: harness.agent(options.agent), prompt: words.join(' '), what: options.agent }];
  }
  return words.map((word) => {
    const path = resolve(context.cwd, word);
    assertReadable(path);
    return { agent: createReplayAgent({ path, delayMs: options.delay }), what: word };
  });
}

/** Before a dispatch is begun for it. */
function assertReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    const message = `The stream ${path} can't be read: ${(cause as Error).message}`;
    throw new CliError(exitCode.failed, message, 'Check the path. Nothing was recorded.', { cause });
  }
}

function countingAgent(agent: AgentProvider, progress: Progress): AgentProvider {
  return {
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
