import { readSession } from '@hansard/compose/reading';
import { dispatchErrors, type LetterState } from '@hansard/dispatch';
import { type DispatchEnvelope, type DispatchLetter, definedOnly, type JsonValue } from '@hansard/events';
import { Option } from 'commander';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { untilReceipt } from '../terminal/receipt.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface ApproveOptions extends CommonOptions {
  readonly refuse?: boolean;
  readonly answer?: string;
  readonly note?: string;
  readonly input?: string;
  readonly always?: boolean;
}

const words: Readonly<Record<LetterState, string>> = {
  taken: 'Taken: the session has recorded the answer.',
  waiting: 'Waiting: nobody has taken the answer yet.',
  refused: 'Refused: the call was answered before.',
};

export const addApprove: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--refuse', 'refuse the call; the agent reads the note')
      .addOption(
        new Option('--answer <text>', 'answer a question of the agent').conflicts(['refuse', 'input']),
      )
      .option('--note <text>', 'say why, for the log')
      .addOption(new Option('--input <json>', 'make the call with another input').conflicts('refuse'))
      .option(
        '--always',
        'also answer later calls of the tool with the same input, for the rest of the session',
      )
      .addHelpText(
        'after',
        '\nThe process that records the session takes the answer. The exit code is 0 if it\ndid within 3 seconds, 5 if the answer waits for it, and 1 if the call was answered\nbefore or does not wait for an answer.',
      ),
    'approve latest call_1',
    'approve chat/cafe 12 --refuse --note "not on a Friday"',
    'approve chat/cafe call_2 --always',
  ).action(
    (
      word: string,
      call: string | undefined,
      { refuse, answer, note, input, always, ...options }: ApproveOptions,
    ) =>
      answerFromStore(context, options, async ({ store }) => {
        const session = await readSession(store, word);
        const { taskDir, envelope, index } = session;
        const { dispatchId } = envelope;
        const dispatch = { taskDir, dispatchId };
        const callId = pendingNamed(envelope, call) ?? (await session.findEventId(call ?? ''));
        const named = index.find(callId)?.event;
        const given: NonNullable<DispatchLetter['answer']> = {
          callId: named?.type.startsWith('harness:') === true ? String(named.cause) : callId,
          decision: refuse === true ? 'refuse' : 'approve',
          scope: always === true ? 'session' : 'call',
          ...definedOnly({ answer, note, input: input === undefined ? undefined : parsed(input) }),
        };
        const letter = await store.sendLetter(dispatch, { answer: given }).catch((error: unknown) => {
          if (dispatchErrors.is(error, 'DISPATCH_LETTER_REFUSED')) throw notWaiting(dispatchId);
          throw error;
        });
        const after = index.events.length - 1;
        const state = await untilReceipt(context.signal, () => store.findLetter(dispatch, letter, after));
        return {
          rows: [{ ...dispatch, callId: given.callId, letter: letter.from, state }],
          text: words[state],
          failure: failureOf(state, dispatchId),
        };
      }),
  );
};

/** The event of a call that waits. Null: the word names no such call by its id. @throws CliError without a word, if not just one call waits */
function pendingNamed(
  { pending = [], dispatchId }: DispatchEnvelope,
  call: string | undefined,
): string | null {
  const named = call === undefined ? pending : pending.filter(({ toolCallId }) => toolCallId === call);
  const [first] = named;
  if (first !== undefined && named.length === 1) return first.callId;
  if (named.length > 1 || call === undefined)
    throw new CliError(
      exitCode.usage,
      named.length === 0
        ? `No call of ${dispatchId} waits for a person.`
        : `Name one of the calls that wait: ${named.map(({ callId, tool }) => `${callId} (${tool})`).join(', ')}.`,
      '`hansard ls --pending` lists the calls that wait.',
    );
  return null;
}

/** @throws CliError */
function parsed(input: string): JsonValue {
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    throw new CliError(
      exitCode.usage,
      `--input ${JSON.stringify(input)} is not JSON.`,
      'Quote it for your shell: --input \'{"path":"a"}\'',
    );
  }
}

function notWaiting(dispatchId: string): CliError {
  return new CliError(
    exitCode.failed,
    `Refused: no such call of ${dispatchId} waits for a person. It was answered before, or nobody was asked about it.`,
    '`hansard ls --pending` lists the calls that wait.',
  );
}

/** Null: the answer was taken. */
function failureOf(state: LetterState, dispatchId: string): CliError | null {
  if (state === 'taken') return null;
  return state === 'refused'
    ? notWaiting(dispatchId)
    : new CliError(
        exitCode.waiting,
        'The answer waits for the process that records the session.',
        'If none runs, `hansard chat --resume SESSION` continues the session and takes the answer.',
      );
}
