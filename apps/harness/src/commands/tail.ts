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
        const log = await store.openDispatch(taskDir, dispatchId);
        if (options.follow !== true && options.after === undefined) {
          for (const event of (await log.last(options.lines)).events) printer.print(event);
          return;
        }
        const after =
          options.after === undefined
            ? (await log.last(options.lines)).first - 1
            : await findPosition(context, store, {
                taskDir,
                dispatchId,
                after: options.after,
                onRead: printer.learn,
              });
        for await (const item of log.follow({ after, signal })) {
          if (item.kind === 'event') printer.print(item.event);
          else if (options.follow !== true) return;
        }
      }),
    );
};
