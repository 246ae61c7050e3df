import { resolve } from 'node:path';
import type { DispatchLog } from '@hansard/dispatch';
import { type DispatchEnvelope, type EventData, isEventOf } from '@hansard/events';
import { loadSession, readSessionState } from '@hansard/session';
import { openHarness } from '../harness.ts';
import { converse, noteNothingLeft } from '../session/converse.ts';
import { openSessionProviders, toModelChoice } from '../session/session-providers.ts';
import { typedLines, whenTyped } from '../session/typed-lines.ts';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { note } from '../terminal/context.ts';

interface ResumeOptions extends CommonOptions {
  readonly scenario?: string;
  readonly model?: string;
  readonly interactive?: boolean;
  readonly quiet?: boolean;
}

export const addResume: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--scenario <file>', 'the scenario to go on with (default: the one that it began with)')
    .option('--model <id>', 'the language model to go on with (default: the one that it began with)')
    .option(
      '-i, --interactive',
      'go on with what is typed when the scenario has said its lines; /end or Ctrl-D ends it',
    )
    .option('-q, --quiet', 'show only what is said, not the events')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard resume chat/cafe\n  hansard resume talks/first 4K7Q --model model-ai-sdk',
    )
    .action(async (task: string, dispatch: string, options: ResumeOptions) => {
      if (options.scenario !== undefined && options.model !== undefined)
        throw new CliError(
          exitCode.usage,
          'Name either a --scenario or a --model.',
          '`hansard help resume` has examples.',
        );
      const quiet = options.quiet === true || options.json === true;
      const load = quiet ? 'live without communication' : 'live';
      const harness = await openHarness(context, { config: options.config, load });
      try {
        const taskDir = toTaskDir(task);
        const log = await findDispatch(harness.store, taskDir, dispatch);
        const { dispatchId } = log;
        const choice =
          options.scenario === undefined
            ? toModelChoice(options.model ?? log.envelope.model ?? missingModel(dispatchId))
            : ({ kind: 'scenario', path: resolve(context.cwd, options.scenario) } as const);
        const providers = await openSessionProviders(harness, choice);
        try {
          const { store } = harness;
          const completion = await lastCompletion(log);
          const recorded = { store, taskDir, dispatchId };
          const state = await readSessionState(recorded);
          const inputs = providers.inputs.slice(state.heard);
          const isTyped = choice.kind === 'plugin' || options.interactive === true;
          let typed = isTyped ? typedLines(context, harness, dispatchId) : null;
          const hasEnded = hasStatusOfEnd(log.envelope, completion);
          if (hasEnded && !state.awaitsResponse && !state.hasOpenCalls && inputs.length === 0) {
            if (typed !== null) typed = await whenTyped(context, harness, typed);
            if (typed === null) {
              noteNothingLeft(context, ': the session is as it was');
              return;
            }
          }
          const { root, session } = await loadSession({
            ...recorded,
            communication: harness.communication,
            signal: context.signal,
            ...providers,
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
        } finally {
          await providers.close();
        }
      } finally {
        await harness.close();
      }
    });
};

type Completion = EventData<'session:complete'>;

/** With what a session ended, where that is the last thing in its log: its result stays, if nothing more is said. */
async function lastCompletion(log: DispatchLog): Promise<Completion | undefined> {
  const [last] = (await log.last(1)).events;
  return last !== undefined && isEventOf(last, 'session:complete') ? last.data : undefined;
}

/** A process that died may have left it without its end. */
function hasStatusOfEnd({ status }: DispatchEnvelope, completion: Completion | undefined): boolean {
  return status === 'completed' || (status !== 'running' && completion !== undefined);
}

function missingModel(dispatchId: string): never {
  throw new CliError(
    exitCode.usage,
    `${dispatchId} does not say which model it began with.`,
    'Name one: --model ID of the configuration, or --scenario FILE.',
  );
}
