import { Option } from 'commander';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { afterHelp, findPosition } from '../tasks/find-position.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { createEventPrinter } from '../terminal/event-printer.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface TailOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly after?: string;
}

export const addTail: AddCommand = (program, context) => {
  withCommonOptions(program.command('tail'))
    .argument('<task>', taskHelp)
    .argument('[dispatch]', dispatchHelp)
    .description('the last events of a dispatch (default: the one started last), and with -f those to come')
    .option('-n, --lines <n>', 'how many', parseCount({ example: 20 }), 10)
    .addOption(new Option('--after <event>', afterHelp).conflicts('lines'))
    .option('-f, --follow', 'go on with new events, by any process, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard tail research/route-models\n  hansard tail -f research/route-models 4K7Q --json\n  hansard tail -f research/route-models --after 120',
    )
    .action((task: string, dispatch: string | undefined, options: TailOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { dispatchId } = await findDispatch(store, taskDir, dispatch ?? 'latest');
        const printer = createEventPrinter(context, options.json === true);
        const { readSignal: signal } = context;
        if (options.follow !== true && options.after === undefined) {
          for (const event of await store.getRecentEvents(taskDir, dispatchId, options.lines))
            printer.print(event);
          return;
        }
        const after =
          options.after === undefined
            ? Math.max((await store.countEvents(taskDir, dispatchId)) - options.lines, 0) - 1
            : await findPosition(context, store, {
                taskDir,
                dispatchId,
                after: options.after,
                onRead: printer.learn,
              });
        for await (const item of store.follow(taskDir, dispatchId, { after, signal })) {
          if (item.kind === 'event') printer.print(item.event);
          else if (options.follow !== true) return;
        }
      }),
    );
};
