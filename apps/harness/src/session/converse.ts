import type { Agent, Session } from '@hansard/session';
import { neutraliseControls } from '@hansard/views';
import { CliError, exitCode } from '../cli-error.ts';
import { type CliContext, note, printJson, printLine } from '../context.ts';
import { toTaskName } from '../task-name.ts';
import type { SessionProviders } from './session-providers.ts';

type Input = SessionProviders['inputs'][number];

export interface Conversation {
  readonly session: Session;
  readonly root: Agent;
  /** What is said first, as a scenario has it. */
  readonly inputs: readonly Input[];
  /** What is said then. */
  readonly typed: AsyncIterable<string>;
  readonly json: boolean;
  /** The answer with which the session ended before, where it did. */
  readonly lastAnswer?: string | undefined;
}

/**
 * Talks to the root of a session to the end of what there is to say, and completes the session: `aborted` when stopped,
 * `failed` after an error, each as far as it got.
 */
export async function converse(context: CliContext, conversation: Conversation): Promise<void> {
  const { session } = conversation;
  try {
    const last = await talk(context, conversation);
    if (!context.signal.aborted) {
      await session.complete('completed', last ?? conversation.lastAnswer);
      return;
    }
  } catch (error) {
    if (!context.signal.aborted) {
      // Where the log takes nothing more, the error that is thrown says so.
      await session.complete('failed').catch(() => {});
      throw error;
    }
  }
  await session.complete('aborted');
  throw new CliError(
    exitCode.failed,
    `Stopped by ${context.signal.reason}.`,
    `\`hansard resume ${toTaskName(session.taskDir)} ${session.dispatchId}\` goes on where it stopped.`,
  );
}

async function talk(
  context: CliContext,
  { root, inputs, typed, json }: Conversation,
): Promise<string | undefined> {
  let last: string | undefined;
  const answer = async () => {
    const line = await root.response();
    last = String(line);
    if (json) printJson(context, { messageId: line.messageId, text: last });
    else printLine(context, `\n${neutraliseControls(last)}\n`);
  };
  // What arrives during an answer is not in it, and is answered next.
  const answerAll = async () => {
    while (root.awaitsResponse) await answer();
  };
  const tell = async ({ text, source }: Input, isOnScreen = false) => {
    if (!json && !isOnScreen) printLine(context, `> ${neutraliseControls(text)}`);
    await root.harken(text, { source: { kind: source } });
    await answerAll();
  };
  await answerAll();
  for (const input of inputs) await tell(input);
  // A terminal shows what is typed into it.
  for await (const text of typed) await tell({ text, source: 'user' }, context.stdin.isTTY === true);
  if (last === undefined && !context.signal.aborted)
    note(
      context,
      'Nothing was left to answer, and nothing was typed. A scenario takes typed lines with `-i`.',
    );
  return last;
}

/** How much of what a scenario's user says the root has heard before. */
export async function countHeard(root: Agent): Promise<number> {
  const messages = await root.transcript();
  return messages.filter(({ role, source }) => role === 'user' && source?.kind !== 'agent').length;
}
