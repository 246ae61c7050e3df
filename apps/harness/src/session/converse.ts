import type { Agent, Session } from '@hansard/session';
import { neutraliseControls } from '@hansard/views';
import { type CliContext, note, printJson, printLine } from '../context.ts';
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
}

/** Talks to the root of a session to the end of what there is to say, and completes the session. */
export async function converse(context: CliContext, conversation: Conversation): Promise<void> {
  const { session, root, inputs, typed, json } = conversation;
  let last: string | undefined;
  const answer = async () => {
    const line = await root.response();
    last = String(line);
    if (json) printJson(context, { messageId: line.messageId, text: last });
    else printLine(context, `\n${neutraliseControls(last)}\n`);
  };
  const tell = async ({ text, source }: Input) => {
    if (!json) printLine(context, `> ${neutraliseControls(text)}`);
    await root.harken(text, { source: { kind: source } });
    await answer();
  };
  if (root.awaitsResponse) await answer();
  for (const input of inputs) await tell(input);
  for await (const text of typed) await tell({ text, source: 'user' });
  if (last === undefined) note(context, 'Nothing was left to answer. `-i` goes on with what you type.');
  await session.complete('completed', last);
}

/** How much of what a scenario's user says the root has heard before. */
export async function countHeard(root: Agent): Promise<number> {
  const messages = await root.transcript();
  return messages.filter(({ role, source }) => role === 'user' && source?.kind !== 'agent').length;
}
