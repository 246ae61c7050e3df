import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import {
  compareContexts,
  neutraliseControls,
  neutraliseControlsInLine,
  priorOutcomes,
  type RenderedCall,
  readContextManifest,
  renderCalls,
  renderContextText,
} from '@hansard/views';
import { contextCounters } from '../context-counters.ts';
import type { Harness } from '../harness.ts';
import { findAgent, readSessionLog } from '../session/read-session-log.ts';
import { findDispatch, findDispatches } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { type CliContext, note, printJson, printLine } from '../terminal/context.ts';
import { parsePolicy } from '../terminal/parse-policy.ts';

interface ContextCommandOptions extends CommonOptions {
  readonly agent?: string;
  readonly policy?: ReturnType<typeof parsePolicy>;
  readonly verify?: boolean;
  readonly history?: boolean;
}

export const addContext: AddCommand = (program, context) => {
  withCommonOptions(program.command('context'))
    .argument('<task>', taskHelp)
    .argument('[dispatch]', dispatchHelp, 'latest')
    .argument('[call]', 'the id of a model call (agent:inference) or of its answer, or "latest"', 'latest')
    .option('--agent <agent>', 'only calls of this agent, by its name or id')
    .option(
      '--policy <policy>',
      'what it would have seen: full, last:MESSAGES, faded:TOKENS[:RESERVE]',
      parsePolicy,
    )
    .option('--verify', 'only render it again and compare it with what was recorded; exit 1 where it differs')
    .option('--history', 'what the earlier dispatches of the task came to, as the opening of the next')
    .description('what a model saw when it was called: policy, detail, tokens, and every message')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard context chat/cafe\n  hansard context chat/cafe latest 01JM8Z7T3V0000000000000000 --verify\n  hansard context chat/cafe --history',
    )
    .action(async (task: string, dispatch: string, call: string, options: ContextCommandOptions) => {
      if (options.verify && options.policy !== undefined)
        throw new CliError(
          exitCode.usage,
          '--verify renders by the policy that was recorded; leave --policy out.',
          '`hansard help context` has examples.',
        );
      await withStore(context, options, async (harness) => {
        if (options.history) {
          showHistory(context, await earlierThan(harness, task, dispatch), options);
          return;
        }
        const { envelope, index } = await readSessionLog(context, harness, { task, dispatch });
        assertFull(envelope);
        const events = index.nodes.map(({ event }) => event);
        const agentId = options.agent === undefined ? undefined : findAgent(index, options.agent).agentId;
        const inference = findCall(events, call, agentId);
        const rendered = await render(events, inference, options);
        if (options.verify) verify(context, rendered, options);
        else show(context, rendered, options);
      });
    });
};

async function earlierThan({ store }: Harness, task: string, dispatch: string) {
  const taskDir = toTaskDir(task);
  if (dispatch === 'latest') return findDispatches(store, taskDir);
  const { startedAt } = await findDispatch(store, taskDir, dispatch);
  return (await findDispatches(store, taskDir)).filter((envelope) => envelope.startedAt < startedAt);
}

function showHistory(
  context: CliContext,
  envelopes: readonly DispatchEnvelope[],
  { json }: CommonOptions,
): void {
  const outcomes = priorOutcomes(envelopes);
  if (json) printJson(context, outcomes);
  else if (outcomes.text === '') note(context, 'No dispatch of this task has ended yet.');
  else printLine(context, neutraliseControls(outcomes.text));
}

function assertFull({ fidelity, dispatchId }: DispatchEnvelope): void {
  if (fidelity === 'full') return;
  throw new CliError(
    exitCode.failed,
    `The dispatch ${dispatchId} was recorded as a narrative: what its tools took and gave is not in the log, so nobody can tell what its model saw.`,
    '`hansard show TASK DISPATCH` tells what happened in it.',
  );
}

function findCall(
  events: readonly CapturedEvent[],
  wanted: string,
  agentId: string | undefined,
): CapturedEvent {
  const calls = events.filter(
    (event) => event.type === 'agent:inference' && (agentId === undefined || event.agentId === agentId),
  );
  const found =
    wanted === 'latest'
      ? calls.at(-1)
      : (calls.find(({ id }) => id === wanted) ?? calls.find(({ messageId }) => messageId === wanted));
  if (found !== undefined) return found;
  const whose = agentId === undefined ? '' : ` of ${agentId}`;
  throw new CliError(
    exitCode.failed,
    wanted === 'latest' ? `There is no model call${whose}.` : `There is no model call ${wanted}${whose}.`,
    calls.length === 0
      ? 'Sessions and agents record them (agent:inference); session logs and games that were imported tell of none.'
      : '`hansard events TASK DISPATCH --type agent:inference --json` shows their ids.',
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

function show(context: CliContext, rendered: RenderedCall, { json, policy }: ContextCommandOptions): void {
  const { inference, agentId, recorded, manifest, messages } = rendered;
  if (json) {
    printJson(context, { inference: inference.id, agentId, recorded, manifest, messages });
    return;
  }
  if (recorded === null)
    note(context, 'hansard: the log does not say what this model saw; this is what it would have seen.');
  else if (policy === undefined)
    for (const difference of compareContexts(recorded, manifest))
      note(context, `hansard: this is not what the model saw: ${difference}.`);
  const shown = recorded === null || policy !== undefined ? manifest : recorded;
  printLine(
    context,
    neutraliseControlsInLine(`call     ${inference.id}${agentId === '' ? '' : ` of ${agentId}`}`),
  );
  printLine(context, renderContextText({ messages, manifest: shown }));
}

function verify(
  context: CliContext,
  { inference, recorded, manifest }: RenderedCall,
  { json }: CommonOptions,
): void {
  if (recorded === null)
    throw new CliError(
      exitCode.failed,
      `The log does not say what the model saw in ${inference.id}: there is nothing to compare with.`,
      'Sessions record it from the version on that has `hansard context`.',
    );
  const differences = compareContexts(recorded, manifest);
  if (json) printJson(context, { inference: inference.id, isSame: differences.length === 0, differences });
  else if (differences.length === 0)
    printLine(context, `The same to the byte: ${manifest.messages} messages, ${manifest.hash}.`);
  if (differences.length > 0)
    throw new CliError(
      exitCode.failed,
      `Rendered again it is not what was recorded: ${differences.join('; ')}.`,
      'The log was changed behind that call, or it is not whole.',
    );
}
