import { isScenarioError } from '@hansard/model-scripted';
import { type Agent, isSessionError, type Session } from '@hansard/session';
import { neutraliseControls } from '@hansard/views';
import { toTaskName } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import type { SessionProviders } from './session-providers.ts';

type Input = SessionProviders['inputs'][number];

export interface Conversation {
  readonly session: Session;
  readonly root: Agent;
  /** What is said first, as a scenario has it. */
  readonly inputs: readonly Input[];
  /** What is said then; null where nobody types. */
  readonly typed: AsyncIterable<string> | null;
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
  let unanswered: unknown;
  /** Says why there is no answer, and lets the user say something else. */
  const tryTo = async (speak: () => Promise<void>) => {
    try {
      await speak();
      unanswered = undefined;
    } catch (error) {
      if (context.signal.aborted || !canGoOnAfter(error)) throw error;
      unanswered = error;
      note(context, `hansard: ${explainError(error).message}\nType another line, or /end.`);
    }
  };
  if (root.awaitsResponse) await (typed === null ? answerAll() : tryTo(answerAll));
  for (const input of inputs) await tell(input);
  let isTyped = false;
  for await (const text of typed ?? []) {
    isTyped = true;
    // A terminal shows what is typed into it.
    await tryTo(() => tell({ text, source: 'user' }, context.stdin.isTTY === true));
  }
  // A line that is missing in a scenario is not an error of the session; a failed model is, if it was the last one.
  if (unanswered !== undefined && !context.signal.aborted && !isUnknownLine(unanswered)) throw unanswered;
  if (last === undefined && !isTyped && !context.signal.aborted) noteNothingLeft(context);
  return last;
}

/** After these, what was said stands in the log, and the agent can be asked again. */
function canGoOnAfter(error: unknown): boolean {
  return isSessionError(error, 'SESSION_MODEL_FAILED') || isSessionError(error, 'SESSION_TURN_LIMIT');
}

function isUnknownLine(error: unknown): boolean {
  return isSessionError(error) && isScenarioError(error.cause, 'SCENARIO_NO_ANSWER');
}

export function noteNothingLeft(context: CliContext, consequence = ''): void {
  note(
    context,
    `Nothing was left to answer, and nothing was typed${consequence}. A scenario takes typed lines with \`-i\`.`,
  );
}
