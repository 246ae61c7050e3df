import { dispatchTree, renderDispatchTree } from '@hansard/views';
import { findReadable } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { shownStatus } from '../tasks/shown-status.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { terminalWidth } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

export const addTree: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText('after', '\nExample:\n  hansard tree research/route-models')
    .action((task: string, options: CommonOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = await findTask(store, task);
        const { envelopes, failure } = await findReadable(store, taskDir);
        const tree = dispatchTree(envelopes);
        const statusOf = await shownStatus(store, taskDir, envelopes);
        return {
          rows: [tree],
          text: renderDispatchTree(tree, { statusOf, width: terminalWidth(context) }),
          failure,
        };
      }),
    );
};
