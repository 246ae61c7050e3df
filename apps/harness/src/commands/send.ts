import { readSession } from '@hansard/compose/reading';
import { dispatchErrors, type LetterState } from '@hansard/dispatch';
import { Option } from 'commander';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import {
  type AddCommand,
  agentHelp,
  type CommonOptions,
  withCommonOptions,
  withExamples,
} from '../terminal/command.ts';
import { untilReceipt } from '../terminal/receipt.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface SendOptions extends CommonOptions {
  readonly agent?: string;
  readonly abort?: boolean;
}

const words: Readonly<Record<LetterState, string>> = {
  taken: 'Taken: the session has recorded it.',
  waiting: 'Waiting: nobody has taken the letter yet.',
  refused: 'Refused: the session ended without it.',
};

/** Null: the letter was taken. */
function failureOf(state: LetterState): CliError | null {
  if (state === 'taken') return null;
  return state === 'waiting'
    ? new CliError(
        exitCode.waiting,
        'The letter waits for the process that records the session.',
        'If none runs, `hansard chat --resume SESSION` continues the session and takes the letter.',
      )
    : new CliError(
        exitCode.failed,
        'The session ended before it took the letter.',
        '`hansard chat --resume SESSION` continues the session.',
      );
}

export const addSend: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .addOption(
        new Option('--agent <agent>', `send to this agent and not to the root: ${agentHelp}`).conflicts(
          'abort',
        ),
      )
      .option('--abort', 'stop the session; the text is the reason')
      .addHelpText(
        'after',
        '\nThe process that records the session takes the letter. The exit code is 0 if it\ndid within 3 seconds, 5 if the letter waits for it, and 1 if the session refuses it.',
      ),
    'send latest "Stop at the next lamp."',
    'send chat/cafe --agent jill "The table is free."',
    'send 4K7Q --abort "wrong branch"',
  ).action((word: string, text: string | undefined, { agent, abort = false, ...options }: SendOptions) =>
    answerFromStore(context, options, async ({ store }) => {
      const session = await readSession(store, word);
      const { taskDir, envelope, index } = session;
      const { dispatchId } = envelope;
      const to = agent === undefined ? undefined : session.findAgent(agent);
      const last = index.events.findLast(
        ({ agentId, type }) =>
          agentId === to?.agentId && (type === 'agent:revived' || type === 'agent:terminated'),
      );
      if (to !== undefined && last?.type === 'agent:terminated')
        throw dispatchErrors.error(
          'DISPATCH_LETTER_REFUSED',
          `The letter to ${dispatchId} was not written: ${to.label} has ended.`,
          { details: { taskDir, dispatchId, reason: `${to.label} has ended` } },
        );
      const letter = await store.sendLetter(
        { taskDir, dispatchId },
        { text, abort, agentId: to?.agentId || undefined },
      );
      const after = index.events.length - 1;
      const find = () => store.findLetter({ taskDir, dispatchId }, letter, after);
      const state = await untilReceipt(context.signal, find);
      return {
        rows: [{ taskDir, dispatchId, letter: letter.from, state }],
        text: words[state],
        failure: failureOf(state),
      };
    }),
  );
};
