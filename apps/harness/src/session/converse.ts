import { toTaskName } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import type { ContentPart } from '@hansard/events';
import { neutraliseControls } from '@hansard/events/plain';
import { scenarioErrors } from '@hansard/model-scripted';
import {
  type Agent,
  forkSession,
  type LoggedString,
  type PendingCall,
  type PersonAnswer,
  type Session,
  sessionErrors,
} from '@hansard/session';
import { printAnswer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import type { ChatModel } from './chat-model.ts';
import { type ChatWord, chatWordOf, type TypedLine, type TypedLines } from './typed-lines.ts';

type Input = ChatModel['inputs'][number] | TypedLine;

export interface Conversation {
  readonly store: DispatchStore;
  readonly session: Session;
  readonly root: Agent;
  /** The lines of the scenario, said first. */
  readonly inputs: readonly Input[];
  /** The typed lines, said after them; null if nobody types. */
  readonly typed: TypedLines | null;
  /** What is attached to the first message that is said. */
  readonly attached: ContentPart[];
  readonly json: boolean;
  /** The last answer before the session was resumed, if it had ended. */
  readonly lastAnswer?: string | undefined;
}

/**
 * Says all lines to the root of a session and completes the session: `aborted` after a stop, `failed` after an error, with
 * everything recorded so far.
 */
export async function converse(context: CliContext, conversation: Conversation): Promise<void> {
  const { session } = conversation;
  try {
    const last = await talk(context, conversation);
    if (!session.signal.aborted) {
      await session.complete('completed', last ?? conversation.lastAnswer);
      return;
    }
  } catch (error) {
    if (!session.signal.aborted) {
      // If the log can't be written, the thrown error has the reason.
      await session.complete('failed').catch(() => {});
      throw error;
    }
  }
  const { reason } = session.signal;
  const waiting = session.pending();
  // What waits for a person can be answered later.
  await (waiting.length > 0 && context.signal.aborted ? session.close() : session.complete('aborted'));
  if (waiting.length > 0)
    note(context, `${waiting.length} calls wait for a person: \`hansard ls --pending\` lists them.`);
  throw new CliError(
    exitCode.failed,
    context.signal.aborted ? `Stopped by ${context.signal.reason}.` : explainError(reason).message,
    `\`hansard chat --resume ${toTaskName(session.taskDir)}/${session.dispatchId}\` continues it.`,
  );
}

async function talk(
  context: CliContext,
  { store, session, root, inputs, typed, attached, json }: Conversation,
): Promise<string | undefined> {
  let last: string | undefined;
  /** False: the person who types stopped the answer. */
  const answer = async (): Promise<boolean> => {
    try {
      const line = await stoppable(context, root, typed);
      last = String(line);
      const rows = [{ messageId: line.messageId, text: last }];
      await printAnswer(context, { json }, { rows, text: `\n${neutraliseControls(last)}\n` });
      return true;
    } catch (error) {
      if (typed === null || !isStopped(error)) throw error;
      note(context, 'Stopped. Type another line, or /end.');
      return false;
    }
  };
  // A message that arrives during an answer is answered next.
  const answerAll = async () => {
    while (root.awaitsResponse) if (!(await answer())) return;
  };
  const send = async (
    { text, source, isHeard = false }: Input & { readonly isHeard?: boolean },
    isOnScreen = false,
  ) => {
    if (!isOnScreen)
      await printAnswer(context, { json }, { rows: [], text: `> ${neutraliseControls(text)}` });
    if (!isHeard) await root.harken(text, { source, parts: attached.splice(0) });
    await answerAll();
  };
  let unanswered: unknown;
  /** Reports why there is no answer, and lets the user type another line. */
  const tryTo = async (speak: () => Promise<void>) => {
    try {
      await speak();
      unanswered = undefined;
    } catch (error) {
      if (session.signal.aborted || !canContinueAfter(error)) throw error;
      unanswered = error;
      note(context, `hansard: ${explainError(error).message}\nType another line, or /end.`);
    }
  };
  const waits = session.pending().some(({ agentId }) => agentId === root.agentId);
  const begin = () => (waits ? answer().then((isOver) => (isOver ? answerAll() : undefined)) : answerAll());
  if (root.awaitsResponse || waits) await (typed === null ? begin() : tryTo(begin));
  for (const input of inputs) await send(input);
  let isTyped = false;
  for await (const line of typed === null ? [] : promptedLines(context, typed.of(session))) {
    isTyped = true;
    const word = line.isHeard === true ? null : chatWordOf(line.text);
    // A terminal already shows typed text.
    if (word === null) await tryTo(() => send(line, context.stdin.isTTY === true));
    else if (await doWord(context, { store, session, root }, word)) await tryTo(answerAll);
  }
  // A line that is missing in a scenario is not an error of the session; a failed model is, if it was the last one.
  if (unanswered !== undefined && !session.signal.aborted && !isUnknownLine(unanswered)) throw unanswered;
  if (attached.length > 0) note(context, 'Nothing was attached, because no message was said.');
  if (last === undefined && !isTyped && !session.signal.aborted) noteNothingLeft(context);
  return last;
}

/** An answer that Ctrl-C stops, if somebody types. A second Ctrl-C ends the command. */
async function stoppable(
  { interrupt }: CliContext,
  root: Agent,
  typed: TypedLines | null,
): Promise<LoggedString> {
  if (interrupt === undefined || typed === null) return root.response();
  interrupt.now = () => {
    interrupt.now = null;
    return root.stop('Ctrl-C', 'user');
  };
  try {
    return await root.response();
  } finally {
    interrupt.now = null;
  }
}

/** Does what a word for the chat says. True: the agent has something to answer. */
async function doWord(
  context: CliContext,
  { store, session, root }: Pick<Conversation, 'store' | 'session' | 'root'>,
  word: ChatWord,
): Promise<boolean> {
  const { taskDir, dispatchId } = session;
  if (word === '/fork') {
    await session.flushed();
    const fork = await forkSession({ store, taskDir, dispatchId });
    const name = `${toTaskName(fork.taskDir)}/${fork.dispatchId}`;
    note(
      context,
      `Forked as ${name}. \`hansard chat --resume ${name}\` continues the fork; this chat stays in the session.`,
    );
    return false;
  }
  const entries = await root.entries();
  const last = entries.findLast(
    ({ message: { role, source } }) => role === 'user' && source?.kind !== 'agent',
  );
  if (last === undefined) {
    note(context, 'There is no message to go back to.');
    return false;
  }
  const { messageId, message } = last;
  await root.rewind(word === '/undo' ? { before: messageId } : { keptThrough: messageId });
  const text = neutraliseControls(message.content ?? '');
  note(context, word === '/undo' ? `Taken back: ${text}` : `Asked again: ${text}`);
  return root.awaitsResponse;
}

/** Asks the person who types about a call that waits. Null: nobody types, so another process answers. */
export async function askPerson(
  context: CliContext,
  typed: TypedLines | null,
  { tool, toolCallId, kind, by, reason = '', choices = [], input, deadline }: PendingCall,
): Promise<PersonAnswer | null> {
  const about = kind === 'question' ? reason : `${by} asks about ${tool} ${JSON.stringify(input)}: ${reason}`;
  const until = deadline === undefined ? '' : ` (until ${deadline})`;
  const text = neutraliseControls(
    `${about}${choices.length === 0 ? '' : ` [${choices.join(' | ')}]`}${until}`,
  );
  if (typed === null) {
    note(
      context,
      `Waiting for a person. ${text}\n\`hansard approve SESSION ${toolCallId}\` answers, in another terminal.`,
    );
    return null;
  }
  const line = await typed.ask(kind === 'question' ? `${text}\n? ` : `${text}\nyes, no, or always? `);
  if (line === null) return null;
  const word = line.trim();
  if (kind === 'question') return { decision: 'approve', answer: word };
  if (/^(y|yes|approve)$/i.test(word)) return { decision: 'approve' };
  if (/^(a|always)$/i.test(word)) return { decision: 'approve', scope: 'session' };
  return /^(n|no|refuse)$/i.test(word) ? { decision: 'refuse' } : { decision: 'refuse', note: word };
}

/** Typed lines. On a terminal with a prompt for each, after a word on how to end. */
async function* promptedLines(
  { stdin, stderr }: CliContext,
  typed: AsyncIterable<TypedLine>,
): AsyncGenerator<TypedLine> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal)
    stderr.write(
      'Type a line and Enter; /end or Ctrl-D ends the session.\n/undo takes your last message back, /retry asks for another answer, /fork copies the session.\n',
    );
  const lines = typed[Symbol.asyncIterator]();
  try {
    for (;;) {
      if (isTerminal) stderr.write('> ');
      const line = await lines.next();
      if (line.done === true) break;
      yield line.value;
    }
    if (isTerminal) stderr.write('\n');
  } finally {
    await lines.return?.();
  }
}

/** After these errors the line is in the log, and the next one can be typed. */
function canContinueAfter(error: unknown): boolean {
  return (
    [
      'SESSION_MODEL_FAILED',
      'SESSION_TURN_LIMIT',
      'SESSION_AGENT_STOPPED',
      'SESSION_UTTERANCE_DENIED',
      'SESSION_INPUT_DENIED',
    ] as const
  ).some((code) => sessionErrors.is(error, code));
}

/** Whether somebody stopped the answer. */
function isStopped(error: unknown): boolean {
  return sessionErrors.is(error, 'SESSION_AGENT_STOPPED') && error.details.event === 'harness:answer_stopped';
}

function isUnknownLine(error: unknown): boolean {
  return sessionErrors.is(error) && scenarioErrors.is(error.cause, 'SCENARIO_NO_ANSWER');
}

export function noteNothingLeft(context: CliContext, consequence = ''): void {
  note(
    context,
    `There was nothing to answer, and no line was typed${consequence}. With \`-i\`, a scenario accepts typed lines.`,
  );
}
