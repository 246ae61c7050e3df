import { listingsOf, resolveScope, shownStatus } from '@hansard/compose';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentTree, createLogIndex, dispatchTree, renderAgentTree, renderDispatchTree } from '@hansard/views';
import { readableSessions } from '../tasks/unreadable.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import { note, terminalWidth } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

export const addTree: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command).addHelpText(
      'after',
      '\nThe agents are those of the session that is named, or of the only one of a task.',
    ),
    'tree research/route-models',
    'tree 4K7Q',
  ).action((word: string, options: CommonOptions) =>
    answerFromStore(context, options, async ({ store }) => {
      const scope = await resolveScope(store, word);
      const { taskDir } = scope;
      const listings = await listingsOf(store, scope);
      const { envelopes, failure } = readableSessions({ taskDir, dispatchId: null, listings });
      const tree = dispatchTree(envelopes);
      const statusOf = await shownStatus(store, taskDir, envelopes);
      // The log of one session is read, never all logs of a task.
      const [root, ...others] = tree;
      const only = scope.dispatchId ?? (others.length === 0 ? root?.envelope.dispatchId : undefined);
      const index = only === undefined ? null : createLogIndex(await store.getDispatchEvents(taskDir, only));
      for (const { message } of index?.diagnostics ?? []) note(context, `hansard: ${message}`);
      const agents = index === null ? null : agentTree(index);
      const title = neutraliseControlsInLine(`Agents of ${root?.envelope.role}`);
      return {
        rows: [{ sessions: tree, agents }],
        text: [
          renderDispatchTree(tree, { statusOf, width: terminalWidth(context) }),
          ...(agents === null ? [] : ['', `${title}:`, renderAgentTree(agents)]),
        ],
        failure,
      };
    }),
  );
};
