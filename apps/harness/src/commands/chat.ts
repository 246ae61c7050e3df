import { basename, extname, resolve } from 'node:path';
import { definedOnly } from '@hansard/events';
import { createSession } from '@hansard/session';
import { converse } from '../session/converse.ts';
import type { ModelChoice } from '../session/session-providers.ts';
import { typedLines } from '../session/typed-lines.ts';
import {
  type ConversationOptions,
  withConversation,
  withSessionProviders,
} from '../session/with-session-providers.ts';
import { noteTaskProblem } from '../tasks/ensure-task.ts';
import { toTaskDir, toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface ChatOptions extends ConversationOptions {
  readonly model?: string;
  readonly task?: string;
  readonly bot?: string;
  readonly system?: string;
}

export const addChat: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--model <id>', 'talk to a configured language model instead of a scenario')
    .option(
      '--task <project/slug>',
      'record under this task (default: chat/ and the name of the scenario or model)',
    )
    .option('--bot <id>', 'record as a dispatch of this bot (default: bot of the configuration)')
    .option('--system <text>', 'set the system prompt of the agent')
    .option(
      '-i, --interactive',
      'continue with typed lines after the lines of the scenario; /end or Ctrl-D ends the session',
    )
    .option(
      '--parallel <n>',
      'make up to this many tool calls of one answer at the same time (default: parallelToolCalls of the configuration, or 1)',
      parseCount({ from: 1, example: 4 }),
    )
    .option('-q, --quiet', 'print only what is said, not the events')
    .option('--view', 'serve a page of this machine that shows the conversation, and print its address')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard chat examples/scenarios/cafe.yaml\n  hansard chat --model model-ai-sdk --task talks/first',
    )
    .action(async (scenario: string | undefined, options: ChatOptions) => {
      const choice = chooseModel(context, scenario, options);
      await withConversation(context, options, (harness) =>
        withSessionProviders(harness, choice, async (providers) => {
          const taskDir = toTaskDir(options.task ?? defaultTask(choice));
          const { root, session } = await createSession({
            store: harness.store,
            taskDir,
            onTaskProblem: (error) => noteTaskProblem(context, error),
            communication: harness.communication,
            signal: context.signal,
            ...providers,
            ...definedOnly({
              systemPrompt: options.system,
              botId: options.bot ?? harness.loaded.config.bot,
              parallelToolCalls: options.parallel ?? providers.parallelToolCalls,
            }),
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
            `Recorded as ${toTaskName(taskDir)} ${session.dispatchId}. \`hansard dialog ${toTaskName(taskDir)}\` prints it.`,
          );
        }),
      );
    });
};

function chooseModel({ cwd }: CliContext, scenario: string | undefined, { model }: ChatOptions): ModelChoice {
  if (scenario !== undefined && model === undefined)
    return { kind: 'scenario', path: resolve(cwd, scenario) };
  if (scenario === undefined && model !== undefined) return { kind: 'plugin', id: model };
  throw new CliError(
    exitCode.usage,
    'A chat needs either a scenario file or a --model, not both.',
    '`hansard help chat` has examples.',
  );
}

function defaultTask(choice: ModelChoice): string {
  const name = choice.kind === 'scenario' ? basename(choice.path, extname(choice.path)) : choice.id;
  return `chat/${name}`;
}
