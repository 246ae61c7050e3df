import { resolve } from 'node:path';
import type { DispatchStore } from '@hansard/dispatch';
import { isEventOf } from '@hansard/events';
import { loadSession } from '@hansard/session';
import { openHarness } from '../harness.ts';
import { converse, countHeard } from '../session/converse.ts';
import { openSessionProviders, toModelChoice } from '../session/session-providers.ts';
import { noLines, typedLines } from '../session/typed-lines.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { note } from '../terminal/context.ts';

interface ResumeOptions extends CommonOptions {
  readonly scenario?: string;
  readonly model?: string;
  readonly interactive?: boolean;
  readonly quiet?: boolean;
}

export const addResume: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--scenario <file>', 'the scenario to go on with (default: the one that it began with)')
    .option('--model <id>', 'the language model to go on with (default: the one that it began with)')
    .option(
      '-i, --interactive',
      'go on with what is typed when the scenario has said its lines; /end or Ctrl-D ends it',
    )
    .option('-q, --quiet', 'show only what is said, not the events')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard resume chat/cafe\n  hansard resume talks/first 4K7Q --model model-ai-sdk',
    )
    .action(async (task: string, dispatch: string, options: ResumeOptions) => {
      if (options.scenario !== undefined && options.model !== undefined)
        throw new CliError(
          exitCode.usage,
          'Name either a --scenario or a --model.',
          '`hansard help resume` has examples.',
        );
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'live without communication' : 'live';
      const harness = await openHarness(context, { config: options.config, load });
      try {
        const taskDir = toTaskDir(task);
        const { dispatchId, model } = await findDispatch(harness.store, taskDir, dispatch);
        const choice =
          options.scenario === undefined
            ? toModelChoice(options.model ?? model ?? missingModel(dispatchId))
            : ({ kind: 'scenario', path: resolve(context.cwd, options.scenario) } as const);
        const providers = await openSessionProviders(harness, choice);
        try {
          const lastAnswer = await lastResult(harness.store, taskDir, dispatchId);
          const { root, session } = await loadSession({
            store: harness.store,
            taskDir,
            dispatchId,
            communication: harness.communication,
            signal: context.signal,
            ...providers,
          });
          for (const { message } of session.diagnostics) note(context, `hansard: ${message}`);
          const typed = choice.kind === 'plugin' || options.interactive === true;
          await converse(context, {
            session,
            root,
            inputs: providers.inputs.slice(await countHeard(root)),
            typed: typed ? typedLines(context, harness, dispatchId) : noLines(),
            json: options.json === true,
            lastAnswer,
          });
        } finally {
          await providers.close();
        }
      } finally {
        await harness.close();
      }
    });
};

/** With what a session ended, where it did: what it ends with again, if nothing more is said. */
async function lastResult(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
): Promise<string | undefined> {
  const [last] = await store.getRecentEvents(taskDir, dispatchId, 1);
  return last !== undefined && isEventOf(last, 'session:complete') ? last.data.result : undefined;
}

function missingModel(dispatchId: string): never {
  throw new CliError(
    exitCode.usage,
    `${dispatchId} does not say which model it began with.`,
    'Name one: --model ID of the configuration, or --scenario FILE.',
  );
}
