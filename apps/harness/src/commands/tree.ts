import { listingsOf, resolveScope, shownStatus } from '@hansard/compose';
import { pagedLog } from '@hansard/compose/reading';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { shortId } from '@hansard/facts';
import {
  dispatchTree,
  openRewindInWords,
  readAgentTree,
  renderAgentTree,
  renderDispatchTree,
} from '@hansard/views';
import { forksBeside } from '../tasks/forks-beside.ts';
import { readableSessions } from '../tasks/unreadable.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { note, terminalWidth } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface TreeOptions extends CommonOptions {
  readonly open?: string;
  readonly full?: boolean;
}

/** The sessions that end with a rewind that nothing has followed yet, each on its own line if they are few. */
function askedRewinds(envelopes: readonly DispatchEnvelope[], isFull: boolean): readonly string[] {
  const lines = envelopes.flatMap((envelope) => {
    const rewind = openRewindInWords(envelope);
    return rewind === null ? [] : [neutraliseControlsInLine(`${shortId(envelope.dispatchId)}: ${rewind}`)];
  });
  if (lines.length === 0) return [];
  const isEach = isFull || lines.length <= mostAsked;
  return [
    '',
    ...(isEach ? lines : [`${lines.length} sessions end with a rewind that nothing has followed yet`]),
  ];
}

/** Of sessions, and of the whole answer without the lines between. */
const [mostSessions, mostLines] = [24, 56];
const mostAsked = 4;

export const addTree: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .addHelpText(
        'after',
        [
          '',
          'The agents are those of the session that is named, or of the only one of a task. A branch of a transcript is below its',
          'agent, with the position of its last event, which --branch of show takes. Equal workers and agents',
          'share a line where there are many.',
        ].join('\n'),
      )
      .option(
        '--open <names>',
        'print workers with these roles and agents with these names on lines of their own',
      )
      .option('--full', 'print every session and agent on a line of its own'),
    'tree research/route-models',
    'tree 4K7Q',
    'tree latest --open Explore',
  ).action((word: string, options: TreeOptions) =>
    answerFromStore(context, options, async ({ store }) => {
      const scope = await resolveScope(store, word);
      const { taskDir } = scope;
      const own = await listingsOf(store, scope);
      const listings = [...own, ...(await forksBeside(store, scope, own))];
      const { envelopes, failure } = readableSessions({ taskDir, dispatchId: null, listings });
      const tree = dispatchTree(envelopes);
      const statusOf = await shownStatus(store, taskDir, envelopes);
      // The log of one session is read, never all logs of a task.
      const [root, ...others] = tree;
      const only = scope.dispatchId ?? (others.length === 0 ? root?.envelope.dispatchId : undefined);
      const logOf = async (dispatchId: string) =>
        pagedLog(await store.openDispatch(taskDir, dispatchId), context.readSignal);
      const read = only === undefined ? null : await readAgentTree(await logOf(only));
      for (const { message } of read?.diagnostics ?? []) note(context, `hansard: ${message}`);
      const agents = read === null ? null : read.agents;
      const { role } = envelopes.find(({ dispatchId }) => dispatchId === only) ?? { role: '' };
      const title = neutraliseControlsInLine(`Agents of ${role}`);
      const width = terminalWidth(context);
      const open = (options.open ?? '').split(',').map((name) => name.trim());
      const sessions = renderDispatchTree(tree, {
        statusOf,
        width,
        open,
        ...(options.full !== true && { most: mostSessions }),
      });
      const asked = askedRewinds(envelopes, options.full === true);
      const room = mostLines - sessions.split('\n').length - asked.length;
      return {
        rows: [{ sessions: tree, agents }],
        text: [
          sessions,
          ...asked,
          ...(agents === null
            ? []
            : [
                '',
                `${title}:`,
                renderAgentTree(agents, { width, open, ...(options.full !== true && { most: room }) }),
              ]),
        ],
        failure,
      };
    }),
  );
};
