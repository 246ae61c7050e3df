import { resolve } from 'node:path';
import type { DispatchLog } from '@hansard/dispatch';
import { type DispatchEnvelope, definedOnly, type EventData, isEventOf } from '@hansard/events';
import { loadSession, readSessionState } from '@hansard/session';
import { converse, noteNothingLeft } from '../session/converse.ts';
import { type ModelChoice, toModelChoice } from '../session/session-providers.ts';
import { typedLines, whenTyped } from '../session/typed-lines.ts';
import {
  type ConversationOptions,
  withConversation,
  withSessionProviders,
} from '../session/with-session-providers.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface ResumeOptions extends ConversationOptions {
  readonly scenario?: string;
  readonly model?: string;
}

/** Milliseconds. A claim with a longer lease is refused. */
const longestWait = 60_000;

export const addResume: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--scenario <file>', 'resume with this scenario (default: the scenario of the session)')
    .option('--model <id>', 'resume with this language model (default: the model of the session)')
    .option(
      '-i, --interactive',
      'continue with typed lines after the lines of the scenario; /end or Ctrl-D ends the session',
    )
    .option(
      '--parallel <n>',
      'make up to this many tool calls of one answer at the same time (default: parallelToolCalls of the configuration, or 1)',
      parseCount({ from: 1, example: 4 }),
    )
    .option('-q, --quiet', 'print only what is said, not the events')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard resume chat/cafe\n  hansard resume talks/first 4K7Q --model model-ai-sdk',
    )
    .action(async (task: string, dispatch: string, options: ResumeOptions) => {
      if (options.scenario !== undefined && options.model !== undefined)
        throw new CliError(
          exitCode.usage,
          '--scenario and --model can not be combined.',
          '`hansard help resume` has examples.',
        );
      await withConversation(context, options, async (harness) => {
        const { store } = harness;
        const taskDir = await findTask(store, task);
        const log = await findDispatch(store, taskDir, dispatch);
        const choice = chooseModel(context, log, options);
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
                note(
                  context,
                  `hansard: ${message}\nhansard: waiting for up to ${Math.ceil(waitMs / 1_000)} s`,
                ),
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
    });
};

function chooseModel(
  { cwd }: CliContext,
  { dispatchId, envelope }: DispatchLog,
  { scenario, model }: ResumeOptions,
): ModelChoice {
  if (scenario !== undefined) return { kind: 'scenario', path: resolve(cwd, scenario) };
  return toModelChoice(model ?? envelope.model ?? missingModel(dispatchId));
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
    'Name it: --model ID of a configured model, or --scenario FILE.',
  );
}
