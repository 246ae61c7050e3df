import { toTaskDir, toTaskName } from '@hansard/compose';
import { readSession } from '@hansard/compose/reading';
import { toDispatchRef } from '@hansard/dispatch';
import { forkSession } from '@hansard/session';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface ForkCommandOptions extends CommonOptions {
  readonly edit?: string;
  readonly task?: string;
}

export const addFork: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--edit <text>', 'give the agent this text in place of the message EVENT')
      .option('--task <project/slug>', 'record the fork under this task (default: that of the session)')
      .addHelpText(
        'after',
        '\nThe fork repeats the events through EVENT. Its agents stand where they stood then.\nThe session stays unchanged, also while another process records it.',
      ),
    'fork latest latest',
    'fork chat/cafe 1 --edit "Let Jack and Jill meet in a library."',
  ).action((word: string, address: string, { edit, task, ...options }: ForkCommandOptions) =>
    answerFromStore(context, options, async ({ store }) => {
      const session = await readSession(store, word);
      const { taskDir, envelope } = session;
      const at = await session.findEventId(address);
      const origin = { store, taskDir, dispatchId: envelope.dispatchId };
      const fork = await forkSession(origin, {
        at,
        edit,
        ...(task === undefined ? {} : { taskDir: toTaskDir(task) }),
      });
      const name = `${toTaskName(fork.taskDir)}/${fork.dispatchId}`;
      return {
        rows: [{ ...toDispatchRef(fork), at, from: toDispatchRef(origin) }],
        text: `Forked as ${name}. \`hansard chat --resume ${name}\` continues the fork.`,
      };
    }),
  );
};
