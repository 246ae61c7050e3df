import { dispatchTree, renderDispatchTree } from '@hansard/views';
import { type AddCommand, type CommonOptions, taskHelp, withCommonOptions, withStore } from '../command.ts';
import { printJson, printLine } from '../context.ts';
import { withReadable } from '../find-dispatch.ts';
import { toTaskDir } from '../task-name.ts';

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
