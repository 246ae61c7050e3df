import type { DispatchLog } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type EventData, isEventOf } from '@hansard/events';
import { loadSession, readSessionState } from '@hansard/session';
import { openSession } from '../tasks/find-session.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { converse, noteNothingLeft } from './converse.ts';
import { type ModelChoice, toModelChoice } from './session-providers.ts';
import { typedLines, whenTyped } from './typed-lines.ts';
import {
  type ConversationOptions,
  withConversation,
  withSessionProviders,
} from './with-session-providers.ts';

/** Milliseconds. A claim with a longer lease is refused. */
const longestWait = 60_000;

/** Continues a session at the end of its log. `named`: with another scenario or model than its own. */
export async function resumeSession(
  context: CliContext,
  word: string,
  named: ModelChoice | null,
  options: ConversationOptions,
): Promise<void> {
  await withConversation(context, options, async (harness) => {
    const { store } = harness;
    const { taskDir, log } = await openSession(store, word);
    const choice = named ?? toModelChoice(log.envelope.model ?? missingModel(log.dispatchId));
    await withSessionProviders(harness, choice, async (providers) => {
      const completion = await lastCompletion(log);
      const recorded = { store, taskDir, dispatchId: log.dispatchId };
      const state = await readSessionState(recorded);
      const inputs = providers.inputs.slice(state.heard);
      const isTyped = choice.kind === 'plugin' || options.interactive === true;
      let typed = isTyped ? typedLines(context, harness, log.dispatchId) : null;
      const hasEnded = hasStatusOfEnd(log.envelope, completion);
      if (hasEnded && !state.awaitsResponse && !state.hasOpenCalls && inputs.length === 0) {
        if (typed !== null) typed = await whenTyped(context, harness, typed);
        if (typed === null) {
          noteNothingLeft(context, ': the session was not changed');
          return;
        }
      }
      const { root, session } = await loadSession({
        ...recorded,
        communication: harness.communication,
        signal: context.signal,
        ...providers,
        wait: {
          waitMs: longestWait,
          onWait: ({ message }, waitMs) =>
            note(context, `hansard: ${message}\nhansard: waiting for up to ${Math.ceil(waitMs / 1_000)} s`),
        },
        ...definedOnly({ parallelToolCalls: options.parallel ?? providers.parallelToolCalls }),
      });
      for (const { message } of session.diagnostics) note(context, `hansard: ${message}`);
      await converse(context, {
        session,
        root,
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
  throw new CliError(
    exitCode.usage,
    `The model of ${dispatchId} is not recorded.`,
    'Name it: --model ID of a configured model, or a scenario file.',
  );
}
