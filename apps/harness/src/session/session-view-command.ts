import type { LogIndex } from '@hansard/views';
import type { Command } from 'commander';
import { type CommonOptions, taskHelp, withCommonOptions, withStore } from '../terminal/command.ts';
import { type CliContext, printJson, printLine } from '../terminal/context.ts';
import { readSessionLog } from './read-session-log.ts';

/** What a view of a session answers: rows for programs, and the same for people. */
export interface SessionAnswer {
  readonly rows: readonly unknown[];
  readonly text: string;
}

export interface SessionViewOptions extends CommonOptions {
  readonly dispatch: string;
}

/** A command that shows one view of one session. `add` gives it its arguments and options, `view` its answer. */
export interface SessionViewCommand<Options extends SessionViewOptions> {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  add?(command: Command): void;
  view(index: LogIndex, words: readonly string[], options: Options): SessionAnswer;
}

export function addSessionView<Options extends SessionViewOptions>(
  program: Command,
  context: CliContext,
  { name, description, example, add, view }: SessionViewCommand<Options>,
): void {
  const command = program.command(name).argument('<task>', taskHelp).description(description);
  add?.(command);
  withCommonOptions(command)
    .option('--dispatch <dispatch>', 'the dispatch that holds the session', 'latest')
    .addHelpText('after', `\nExample:\n  hansard ${example}`)
    .action(async (task: string, ...rest: unknown[]) => {
      const words = rest.filter((word): word is string => typeof word === 'string');
      const options = command.opts<Options>();
      await withStore(context, options, async (harness) => {
        const { index } = await readSessionLog(context, harness, { task, dispatch: options.dispatch });
        const answer = view(index, words, options);
        if (options.json) for (const row of answer.rows) printJson(context, row);
        else printLine(context, answer.text);
      });
    });
}
