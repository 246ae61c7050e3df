import type { DispatchEnvelope } from '@hansard/events';
import { sessionView } from '@hansard/views';
import { findDispatch, withReadable } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { letInterrupt, printJson, printLine } from '../terminal/context.ts';

export const addShow: AddCommand = (program, context) => {
  withCommonOptions(program.command('show'))
    .argument('<task>', taskHelp)
    .argument('[dispatch]', dispatchHelp)
    .description('the session of a dispatch as it went, or of every dispatch of the task')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard show research/route-models latest\n  hansard show research/route-models 4K7Q',
    )
    .action((task: string, dispatch: string | undefined, options: CommonOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const show = async (envelopes: readonly DispatchEnvelope[]) => {
          for (const [index, envelope] of envelopes.entries()) {
            await letInterrupt(context);
            if (options.json) {
              printJson(
                context,
                sessionView(envelope, await store.getDispatchEvents(taskDir, envelope.dispatchId)),
              );
              continue;
            }
            if (index > 0) printLine(context, '');
            printLine(context, await store.renderSessionView(taskDir, envelope.dispatchId));
          }
        };
        if (dispatch === undefined) await withReadable(store, taskDir, show);
        else await show([await findDispatch(store, taskDir, dispatch)]);
      }),
    );
};
