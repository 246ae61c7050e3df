import { dispatchTree, renderDispatchTree } from '@hansard/views';
import { withReadable } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import {
  type AddCommand,
  type CommonOptions,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { printJson, printLine } from '../terminal/context.ts';

export const addTree: AddCommand = (program, context) => {
  withCommonOptions(program.command('tree'))
    .argument('<task>', taskHelp)
    .description('the dispatches of a task with their workers: status, model, turns, tokens, cost, duration')
    .addHelpText('after', '\nExample:\n  hansard tree research/route-models')
    .action((task: string, options: CommonOptions) =>
      withStore(context, options, ({ store }) =>
        withReadable(store, toTaskDir(task), (envelopes) => {
          const tree = dispatchTree(envelopes);
          if (options.json) printJson(context, tree);
          else printLine(context, renderDispatchTree(tree));
        }),
      ),
    );
};
