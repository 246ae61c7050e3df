import { listingsOf, resolveScope, shownStatus } from '@hansard/compose';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentTree, createLogIndex, dispatchTree, renderAgentTree, renderDispatchTree } from '@hansard/views';
import { forksBeside } from '../tasks/forks-beside.ts';
import { readableSessions } from '../tasks/unreadable.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { note, terminalWidth } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface TreeOptions extends CommonOptions {
  readonly open?: string;
  readonly full?: boolean;
}

/** Of sessions, and of the whole answer without the lines between. */
const [mostSessions, mostLines] = [24, 56];

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
      const index = only === undefined ? null : createLogIndex(await store.getDispatchEvents(taskDir, only));
      for (const { message } of index?.diagnostics ?? []) note(context, `hansard: ${message}`);
      const agents = index === null ? null : agentTree(index);
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
      const room = mostLines - sessions.split('\n').length;
      return {
        rows: [{ sessions: tree, agents }],
        text: [
          sessions,
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
