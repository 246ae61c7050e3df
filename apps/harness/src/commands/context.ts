import { type CapturedEvent, type DispatchEnvelope, replacedBy } from '@hansard/events';
import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import {
  compareContexts,
  type RenderedCall,
  readContextManifest,
  redactionNote,
  renderCalls,
  unknownContext,
  verificationOf,
} from '@hansard/prompt';
import { contextCounters } from '@hansard/prompt/tokens';
import { type LogIndex, type PriorOutcomes, renderContextText } from '@hansard/views';
import type { Harness } from '../harness.ts';
import { readPriorOutcomes } from '../run/with-history.ts';
import { readSessionLog } from '../session/read-session-log.ts';
import type { SessionLog } from '../session/session-log.ts';
import { findDispatch, findDispatches } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, agentHelp, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { parsePolicy } from '../terminal/parse-policy.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface ContextCommandOptions extends CommonOptions {
  readonly agent?: string;
  readonly policy?: ReturnType<typeof parsePolicy>;
  readonly verify?: boolean;
  readonly history?: boolean;
}

export const addContext: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--agent <agent>', `select only calls of this agent: ${agentHelp}`)
    .option(
      '--policy <policy>',
      'render with another policy: full, last:MESSAGES, faded:TOKENS[:RESERVE]',
      parsePolicy,
    )
    .option(
      '--verify',
      'render the context again and compare it with the recorded hash; exit 1 on a difference',
    )
    .option(
      '--history',
      'print the outcomes of earlier dispatches of the task, as the next prompt begins with them',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  hansard context chat/cafe\n  hansard context chat/cafe latest 01JM8Z7T3V0000000000000000 --verify\n  hansard context chat/cafe --history',
    )
    .action(async (task: string, dispatch: string, call: string, options: ContextCommandOptions) => {
      if (options.verify && options.policy !== undefined)
        throw new CliError(
          exitCode.usage,
          '--verify uses the recorded policy, so it can not be combined with --policy.',
          '`hansard help context` has examples.',
        );
      await answerFromStore(context, options, async (harness) => {
        if (options.history) {
          const earlier = await earlierThan(harness, task, dispatch);
          return historyAnswer(
            await readPriorOutcomes(harness.store, await findTask(harness.store, task), earlier),
          );
        }
        const log = await readSessionLog(context, harness, { task, dispatch });
        assertFull(log.envelope);
        const agentId = options.agent === undefined ? undefined : log.findAgent(options.agent).agentId;
        const inference = await findCall(log, call, agentId);
        const rendered = await render(log.index.events, inference, options);
        const isRedactedLater = log.index.events.some((event) => replacedBy(event) !== null);
        return options.verify
          ? verifiedAnswer(rendered, isRedactedLater)
          : contextAnswer(rendered, options, isRedactedLater);
      });
    });
};

async function earlierThan({ store }: Harness, task: string, dispatch: string) {
  const taskDir = await findTask(store, task);
  if (dispatch === 'latest') return findDispatches(store, taskDir);
  const { startedAt } = (await findDispatch(store, taskDir, dispatch)).envelope;
  return (await findDispatches(store, taskDir)).filter((envelope) => envelope.startedAt < startedAt);
}

function historyAnswer(outcomes: PriorOutcomes): Answer {
  if (outcomes.text === '')
    return { rows: [outcomes], text: [], notesBefore: ['No dispatch of this task has ended yet.'] };
  return { rows: [outcomes], text: neutraliseControls(outcomes.text) };
}

function assertFull(envelope: DispatchEnvelope): void {
  const problem = unknownContext(envelope);
  if (problem === null) return;
  throw new CliError(
    exitCode.failed,
    problem,
    '`hansard show TASK DISPATCH` prints its session. Record with --fidelity full to keep contexts.',
  );
}

/** `latest` and a time name the last call up to then, any other address a call or an event of its answer. */
async function findCall(
  log: SessionLog,
  wanted: string,
  agentId: string | undefined,
): Promise<CapturedEvent> {
  const calls = log.index.nodes.filter(
    ({ event }) => event.type === 'agent:inference' && (agentId === undefined || event.agentId === agentId),
  );
  const found = calls.length === 0 ? undefined : await callAt(log, wanted, calls);
  if (found !== undefined) return found.event;
  const whose = agentId === undefined ? '' : ` of ${agentId}`;
  throw new CliError(
    exitCode.failed,
    wanted === 'latest' ? `There is no model call${whose}.` : `There is no model call ${wanted}${whose}.`,
    calls.length === 0
      ? 'Sessions and agents record them (agent:inference); imported session logs and games do not.'
      : '`hansard events TASK DISPATCH --type agent:inference` shows them.',
  );
}

async function callAt(
  log: SessionLog,
  wanted: string,
  calls: readonly LogIndex['nodes'][number][],
): Promise<LogIndex['nodes'][number] | undefined> {
  if (wanted === 'latest') return calls.at(-1);
  const { position, event, id } = await log.findEvent(wanted);
  if (wanted.startsWith('@')) return calls.findLast((call) => call.position <= position);
  const messageId = event.messageId ?? id;
  return (
    calls.find((call) => call.event.id === id) ?? calls.find((call) => call.event.messageId === messageId)
  );
}

async function render(
  events: readonly CapturedEvent[],
  inference: CapturedEvent,
  { policy }: ContextCommandOptions,
): Promise<RenderedCall> {
  const counters = await contextCounters(readContextManifest(inference));
  const [rendered] = renderCalls(events, {
    only: ({ id }) => id === inference.id,
    counters,
    ...(policy === undefined ? {} : { policy, isOwnPolicy: true }),
  });
  if (rendered !== undefined) return rendered;
  throw new TypeError(`The call ${inference.id} was not rendered.`);
}

function contextAnswer(
  rendered: RenderedCall,
  { policy }: ContextCommandOptions,
  isRedactedLater: boolean,
): Answer {
  const { inference, agentId, basis, recorded, manifest, messages } = rendered;
  const shown = recorded === null || policy !== undefined ? manifest : recorded;
  const call = neutraliseControlsInLine(`call     ${inference.id}${agentId === '' ? '' : ` of ${agentId}`}`);
  return {
    rows: [{ inference: inference.id, agentId, basis, recorded, manifest, messages }],
    text: [call, renderContextText({ messages, manifest: shown })],
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
