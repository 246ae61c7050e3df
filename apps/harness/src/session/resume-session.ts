import { harnessErrors, isLogFile, openNamed } from '@hansard/compose';
import { type DispatchLog, toDispatchRef } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type EventData, isEventOf } from '@hansard/events';
import { readSessionState } from '@hansard/session';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { CliContext } from '../terminal/context.ts';
import {
  type ConversationOptions,
  type ModelChoice,
  toModelChoice,
  withChatModel,
  withConversation,
} from './chat-model.ts';
import { converse, noteNothingLeft } from './converse.ts';
import { TypedLines } from './typed-lines.ts';

/** Continues a session at the end of its log. `named`: with another scenario or model than its own. */
export async function resumeSession(
  context: CliContext,
  word: string,
  named: ModelChoice | null,
  options: ConversationOptions & { readonly task?: string },
): Promise<void> {
  await withConversation(context, options, async (harness) => {
    const { store } = harness;
    const ofFile = isLogFile(context.cwd, word) ? await harness.sessionOfFile(word, options.task) : null;
    if (ofFile === null && options.task !== undefined) throw forNewSessions('task');
    const log = ofFile === null ? (await openNamed(store, word)).log : await store.openDispatch(ofFile);
    const choice = named ?? toModelChoice(log.envelope.model ?? missingModel(log.dispatchId));
    await withChatModel(choice, async ({ chat, inputs: lines }) => {
      const completion = await lastCompletion(log);
      const recorded = toDispatchRef(log);
      const state = await readSessionState({ store, ...recorded, except: ofFile?.events });
      const inputs = lines.slice(state.heard);
      const isTyped = choice.kind === 'plugin' || options.interactive === true;
      const typed = isTyped ? new TypedLines(context, harness) : null;
      const hasEnded = hasStatusOfEnd(log.envelope, completion);
      if (hasEnded && !state.awaitsResponse && !state.hasOpenCalls && inputs.length === 0) {
        if (typed === null || !(await typed.isTyped())) {
          noteNothingLeft(context, ': the session was not changed');
          return;
        }
      }
      const resumed = await harness.resumeChat(recorded, {
        ...chat,
        ...definedOnly({ parallelToolCalls: options.parallel, events: ofFile?.events }),
        ...(typed === null ? {} : { onIncoming: (text: string) => typed.onIncoming(text) }),
      });
      await converse(context, {
        ...resumed,
        inputs,
        typed,
        json: options.json === true,
        lastAnswer: completion?.result,
      });
    });
  });
}

type Completion = EventData<'session:complete'>;

/** The completion of a session if it is the last event: its result stays if nothing more is said. */
async function lastCompletion(log: DispatchLog): Promise<Completion | undefined> {
  const [last] = (await log.last(1)).events;
  return last !== undefined && isEventOf(last, 'session:complete') ? last.data : undefined;
}

/** A process that exited early can have left the status without the event of the end. */
function hasStatusOfEnd({ status }: DispatchEnvelope, completion: Completion | undefined): boolean {
  return status === 'completed' || (status !== 'running' && completion !== undefined);
}

function missingModel(dispatchId: string): never {
  throw harnessErrors.error('HARNESS_PROVIDER_UNKNOWN', `The model of ${dispatchId} is not recorded.`, {
    advice: 'Name it: --model ID of a configured model, or a scenario file.',
  });
}

export function forNewSessions(option: string): CliError {
  return new CliError(
    exitCode.usage,
    `--${option} is for a new session, so it can not be combined with --resume.`,
    '`hansard help chat` has examples.',
  );
}
