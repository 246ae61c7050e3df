import { basename, extname, resolve } from 'node:path';
import { definedOnly } from '@hansard/events';
import { createSession } from '@hansard/session';
import { openHarness } from '../harness.ts';
import { converse } from '../session/converse.ts';
import { type ModelChoice, openSessionProviders } from '../session/session-providers.ts';
import { typedLines } from '../session/typed-lines.ts';
import { ensureTask } from '../tasks/ensure-task.ts';
import { toTaskDir, toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';

interface ChatOptions extends CommonOptions {
  readonly model?: string;
  readonly task?: string;
  readonly system?: string;
  readonly interactive?: boolean;
  readonly quiet?: boolean;
}

export const addChat: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--model <id>', 'a language model of the configuration, instead of a scenario')
    .option(
      '--task <project/slug>',
      'the task to record under (default: chat/ and the name of the scenario or model)',
    )
    .option('--system <text>', 'what the agent is told first')
    .option(
      '-i, --interactive',
      'go on with what is typed when the scenario has said its lines; /end or Ctrl-D ends it',
    )
    .option('-q, --quiet', 'show only what is said, not the events')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard chat examples/scenarios/cafe.yaml\n  hansard chat --model model-ai-sdk --task talks/first',
    )
    .action(async (scenario: string | undefined, options: ChatOptions) => {
      const choice = chooseModel(context, scenario, options);
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'live without communication' : 'live';
      const harness = await openHarness(context, { config: options.config, load });
      try {
        const providers = await openSessionProviders(harness, choice);
        try {
          const taskDir = toTaskDir(options.task ?? defaultTask(choice));
          await ensureTask(context, harness.store, taskDir);
          const { root, session } = await createSession({
            store: harness.store,
            taskDir,
            communication: harness.communication,
            signal: context.signal,
            ...providers,
            ...definedOnly({ systemPrompt: options.system }),
          });
          const typed = choice.kind === 'plugin' || options.interactive === true;
          await converse(context, {
            session,
            root,
            inputs: providers.inputs,
            typed: typed ? typedLines(context, harness, session.dispatchId) : null,
            json: options.json === true,
          });
          note(
            context,
            `Recorded as ${toTaskName(taskDir)} ${session.dispatchId}. \`hansard dialog ${toTaskName(taskDir)}\` reads it back.`,
          );
        } finally {
          await providers.close();
        }
      } finally {
        await harness.close();
      }
    });
};

function chooseModel({ cwd }: CliContext, scenario: string | undefined, { model }: ChatOptions): ModelChoice {
  if (scenario !== undefined && model === undefined)
    return { kind: 'scenario', path: resolve(cwd, scenario) };
  if (scenario === undefined && model !== undefined) return { kind: 'plugin', id: model };
  throw new CliError(
    exitCode.usage,
    'Name either a scenario file or a --model.',
    '`hansard help chat` has examples.',
  );
}

function defaultTask(choice: ModelChoice): string {
  const name = choice.kind === 'scenario' ? basename(choice.path, extname(choice.path)) : choice.id;
  return `chat/${name}`;
}
