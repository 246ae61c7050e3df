import { type Harness, listAll, resolveScope } from '@hansard/compose';
import { readSession, renderModelCall } from '@hansard/compose/reading';
import { type DispatchStatus, dispatchStatuses, replacedBy } from '@hansard/events';
import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import {
  type ContextPolicy,
  compareContexts,
  parseContextPolicy,
  type RenderedCall,
  redactionNote,
  verificationOf,
} from '@hansard/prompt';
import { type PriorOutcomes, renderContextText } from '@hansard/views';
import { InvalidArgumentError, Option } from 'commander';
import { agentOption } from '../tasks/filter-options.ts';
import { readableSessions } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { answerFromStore } from '../terminal/with-store.ts';
import { sessionReading } from './questions.ts';

interface ContextCommandOptions extends CommonOptions {
  readonly agent?: readonly string[];
  readonly status?: readonly DispatchStatus[];
  readonly policy?: ReturnType<typeof parsePolicy>;
  readonly verify?: boolean;
  readonly history?: boolean;
}

export const addContext: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .addOption(agentOption('select only calls of these agents'))
      .option(
        '--policy <policy>',
        'render with another policy: full, last:MESSAGES, faded:TOKENS[:RESERVE]',
        parsePolicy,
      )
      .option(
        '--verify',
        'render the context again and compare it with the recorded hash; exit 1 on a difference',
      )
      .option('--history', 'print what came before in the task: the outcomes of earlier sessions')
      .addOption(
        new Option('--status <statuses>', 'with --history, only sessions with these statuses').argParser(
          parseStatuses,
        ),
      ),
    'context chat/cafe',
    'context chat/cafe 35 --agent jill --verify',
    'context chat/cafe --history --status completed',
  ).action(async (word: string, call: string, options: ContextCommandOptions) => {
    if (options.verify && options.policy !== undefined)
      throw new CliError(
        exitCode.usage,
        '--verify uses the recorded policy, so it can not be combined with --policy.',
        '`hansard help context` has examples.',
      );
    await answerFromStore(context, options, async (harness) => {
      const { store } = harness;
      if (options.history === true) return historyAnswer(await outcomesBefore(harness, word, options));
      const log = await readSession(store, word, sessionReading(context));
      const { agent: agents, policy } = options;
      const rendered = await renderModelCall(log, { call, agents, policy });
      const isRedactedLater = log.index.events.some((event) => replacedBy(event) !== null);
      return options.verify
        ? verifiedAnswer(rendered, isRedactedLater)
        : contextAnswer(rendered, options, isRedactedLater);
    });
  });
};

/** The outcomes of the sessions of a task, or of those before one of them. */
async function outcomesBefore(
  harness: Harness,
  word: string,
  { status }: ContextCommandOptions,
): Promise<PriorOutcomes> {
  const { store } = harness;
  const scope = await resolveScope(store, word);
  const { taskDir, dispatchId } = scope;
  const listings = dispatchId === null ? scope.listings : await listAll(store, { taskDir });
  const { envelopes } = readableSessions({ taskDir, dispatchId: null, listings });
  const of = envelopes.find((envelope) => envelope.dispatchId === dispatchId);
  return harness.priorOutcomes(
    taskDir,
    envelopes.filter(
      (envelope) =>
        (of === undefined || (envelope.startedAt ?? '') < (of.startedAt ?? '')) &&
        (status ?? [envelope.status]).includes(envelope.status),
    ),
  );
}

function parseStatuses(text: string): readonly DispatchStatus[] {
  const words = text.split(',').map((word) => word.trim());
  const statuses = words.flatMap((word) => dispatchStatuses.find((status) => status === word) ?? []);
  if (statuses.length === words.length) return statuses;
  throw new InvalidArgumentError(`Give one or more of these, with commas: ${dispatchStatuses.join(', ')}.`);
}

function historyAnswer(outcomes: PriorOutcomes): Answer {
  if (outcomes.text === '')
    return { rows: [outcomes], text: [], notesBefore: ['No session of this task has ended yet.'] };
  return { rows: [outcomes], text: neutraliseControls(outcomes.text) };
}

function contextAnswer(
  rendered: RenderedCall,
  { policy }: ContextCommandOptions,
  isRedactedLater: boolean,
): Answer {
  const { inference, agentId, basis, recorded, manifest, messages, request } = rendered;
  const shown = recorded === null || policy !== undefined ? manifest : recorded;
  const call = neutraliseControlsInLine(`call     ${inference.id}${agentId === '' ? '' : ` of ${agentId}`}`);
  return {
    rows: [{ inference: inference.id, agentId, basis, recorded, manifest, request, messages }],
    text: [call, renderContextText({ messages, manifest: shown, request })],
    notesBefore: [
      ...differencesInWords(rendered, policy !== undefined),
      ...redactionNotes(rendered, isRedactedLater),
    ],
  };
}

/** The differences between the rendered and the recorded context. */
function differencesInWords({ recorded, manifest }: RenderedCall, isOwnPolicy: boolean): string[] {
  if (recorded === null)
    return ['hansard: the log has no record of this context; this one was reconstructed from the log.'];
  if (isOwnPolicy) return [];
  return compareContexts(recorded, manifest).map(
    (difference) => `hansard: this differs from the recorded context: ${difference}.`,
  );
}

function redactionNotes(rendered: RenderedCall, isRedactedLater: boolean): string[] {
  const note = redactionNote(rendered, isRedactedLater);
  return note === null ? [] : [`hansard: ${note}`];
}

function verifiedAnswer(rendered: RenderedCall, isRedactedLater: boolean): Answer {
  const { inference, recorded, manifest } = rendered;
  const { isSame, text } = verificationOf(rendered);
  if (recorded === null)
    throw new CliError(
      exitCode.failed,
      text,
      'Sessions record it with each model call; imported logs do not have it.',
    );
  const failure = new CliError(
    exitCode.failed,
    text,
    isRedactedLater
      ? 'Secrets were replaced in this log after that call, so the text before cannot be compared.'
      : 'The log was changed after that call, or it is incomplete.',
  );
  return {
    rows: [{ inference: inference.id, isSame, differences: compareContexts(recorded, manifest) }],
    notesBefore: redactionNotes(rendered, isRedactedLater),
    text: isSame ? text : [],
    failure: isSame ? null : failure,
  };
}

/** A context policy, as an option's value. */
function parsePolicy(text: string): ContextPolicy {
  try {
    return parseContextPolicy(text);
  } catch (error) {
    if (error instanceof TypeError)
      throw new InvalidArgumentError(`${error.message} Such as last:20 or faded:8000.`);
    throw error;
  }
}
