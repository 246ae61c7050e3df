import type { Command } from 'commander';
import { readSessionLog } from '../../session/read-session-log.ts';
import type { SessionLog } from '../../session/session-log.ts';
import type { Answer } from '../../terminal/answer.ts';
import { type CommonOptions, withCommonOptions } from '../../terminal/command.ts';
import type { CliContext } from '../../terminal/context.ts';
import { answerFromStore } from '../../terminal/with-store.ts';

export interface SessionViewOptions extends CommonOptions {
  readonly dispatch: string;
}

/** A view of one session as a command. `words` are the arguments after the task. */
export interface SessionViewCommand<Options extends SessionViewOptions> {
  readonly example: string;
  view(log: SessionLog, words: readonly string[], options: Options): Answer | Promise<Answer>;
}

export function addSessionView<Options extends SessionViewOptions>(
  command: Command,
  context: CliContext,
  { example, view }: SessionViewCommand<Options>,
): void {
  withCommonOptions(command)
    .option('--dispatch <dispatch>', 'select the dispatch of the session', 'latest')
    .addHelpText('after', `\nExample:\n  hansard ${example}`)
    .action((task: string, ...rest: unknown[]) => {
      const words = rest.filter((word): word is string => typeof word === 'string');
      const options = command.opts<Options>();
      return answerFromStore(context, options, async (harness) => {
        const log = await readSessionLog(context, harness, { task, dispatch: options.dispatch });
        return view(log, words, options);
      });
    });
}
