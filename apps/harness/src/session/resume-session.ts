import {
  isLogFile,
  modelNotRecorded,
  noteUncountedCost,
  openNamed,
  type SessionOfFile,
} from '@hansard/compose';
import { type DispatchLog, toDispatchRef } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type EventData, isEventOf } from '@hansard/events';
import { readSessionState } from '@hansard/session';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
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
    const file = isLogFile(context.cwd, word) ? await harness.sessionOfFile(word, options.task) : null;
    if (file === null && options.task !== undefined) throw forNewSessions('task');
    const log =
      file === null
        ? (await openNamed(store, word)).log
        : file.copied === null
          ? null
          : await store.openDispatch(file.copied);
    const state = await readSessionState(
      log === null ? { events: file?.events ?? [] } : { store, ...toDispatchRef(log), copied: file?.events },
    );
    const own = log?.envelope.model ?? state.languageModel;
    if (named === null && own === null) throw modelNotRecorded(file?.name ?? log?.dispatchId ?? word);
    const choice = named ?? toModelChoice(own ?? '');
    // Before anyone types a line for it.
    if (choice.kind === 'plugin') harness.languageModel(choice.id);
    await withChatModel(choice, async ({ chat, inputs: lines }) => {
      const completion = log === null ? undefined : await lastCompletion(log);
      // A file that was not copied yet has no line of the scenario.
      const inputs = lines.slice(log === null ? 0 : state.heard);
      const isTyped = choice.kind === 'plugin' || options.interactive === true;
      const typed = isTyped ? new TypedLines(context, harness) : null;
      const hasEnded = log === null || hasStatusOfEnd(log.envelope, completion);
      if (hasEnded && !state.awaitsResponse && !state.hasOpenCalls && inputs.length === 0) {
        if (typed === null || !(await typed.isTyped())) {
          if (file !== null) await notePlace(context, file, state.notInLog);
          noteNothingLeft(
            context,
            `: ${log === null ? 'nothing was copied' : 'the session was not changed'}`,
          );
          return;
        }
      }
      const resumed = await harness.resumeChat(file ?? toDispatchRef(log as DispatchLog), {
        ...chat,
        ...definedOnly({ parallelToolCalls: options.parallel }),
        ...(typed === null ? {} : { onIncoming: (text: string) => typed.onIncoming(text) }),
      });
      await converse(context, {
        ...resumed,
        inputs,
        typed,
        json: options.json === true,
        lastAnswer: completion?.result,
      });
      const { taskDir, dispatchId } = resumed.session;
      noteUncountedCost(harness, await store.getDispatchEnvelope(taskDir, dispatchId));
    });
  });
}

/** Says where the copy of a file is, and that the file has grown since. */
async function notePlace(
  context: CliContext,
  file: SessionOfFile,
  notInLog: readonly string[],
): Promise<void> {
  if (file.copied === null) return;
  await file.copy();
  const [first] = notInLog;
  if (first === undefined) return;
  note(
    context,
    `hansard: ${file.name} has grown since: ${notInLog.length} of its events, ${first} first, are not in the session. --task PROJECT/SLUG continues a new copy.`,
  );
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

export function forNewSessions(option: string): CliError {
  return new CliError(
    exitCode.usage,
    `--${option} is for a new session, so it can not be combined with --resume.`,
    '`hansard help chat` has examples.',
  );
}
