import type { Command } from 'commander';
import { readSessionLog } from '../../session/read-session-log.ts';
import type { SessionLog } from '../../session/session-log.ts';
import type { Answer } from '../../terminal/answer.ts';
import { CliError, exitCode } from '../../terminal/cli-error.ts';
import { type CommonOptions, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerFromStore } from '../../terminal/with-store.ts';

export interface SessionViewOptions extends CommonOptions {
  readonly dispatch?: string;
}

/** A view of one session as a command. `words` are the arguments after the task and the dispatch. */
export interface SessionViewCommand<Options extends SessionViewOptions> {
  readonly example: string;
  /** The number of its words. A word more is the dispatch, before them. Absent: none. */
  readonly words?: number;
  view(log: SessionLog, words: readonly string[], options: Options): Answer | Promise<Answer>;
}

export function addSessionView<Options extends SessionViewOptions>(
  command: Command,
  context: CliContext,
  { example, words: own = 0, view }: SessionViewCommand<Options>,
): void {
  withCommonOptions(command)
    .option('--dispatch <dispatch>', 'select the dispatch of the session (default: latest)')
    .addHelpText('after', `\nExample:\n  hansard ${example}`)
    .action((task: string, ...rest: unknown[]) => {
      const words = rest.flat().filter((word): word is string => typeof word === 'string');
      const options = command.opts<Options>();
      const named = words.length > own ? words.shift() : undefined;
      if (words.length > own || (named !== undefined && options.dispatch !== undefined))
        throw new CliError(
          exitCode.usage,
          'There are more words than the task, a dispatch and what is asked of it.',
          `\`hansard help ${command.name()}\` has an example.`,
        );
      const dispatch = named ?? options.dispatch ?? 'latest';
      return answerFromStore(context, options, async (harness) => {
        const log = await readSessionLog(context, harness, { task, dispatch });
        return view(log, words, options);
      });
    });
}
