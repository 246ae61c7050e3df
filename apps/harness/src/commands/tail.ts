import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '@hansard/views';
import { Option } from 'commander';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { afterHelp, findPosition } from '../tasks/find-position.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { eventAnswer } from '../terminal/event-answer.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface TailOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly after?: string;
}

export const addTail: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('-n, --lines <n>', 'how many', parseCount({ example: 20 }), 10)
    .addOption(new Option('--after <event>', afterHelp).conflicts('lines'))
    .option('-f, --follow', 'go on with new events, by any process, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard tail research/route-models\n  hansard tail -f research/route-models 4K7Q --json\n  hansard tail -f research/route-models --after 120',
    )
    .action((task: string, dispatch: string | undefined, options: TailOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { dispatchId } = await findDispatch(store, taskDir, dispatch ?? 'latest');
        const names = new AgentNames();
        return eventAnswer(
          context,
          lastEvents(context, { store, taskDir, dispatchId, names }, options),
          names,
        );
      }),
    );
};

interface TailSource {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly names: AgentNames;
}

async function* lastEvents(
  context: CliContext,
  { store, taskDir, dispatchId, names }: TailSource,
  { follow = false, lines, after: named }: TailOptions,
): AsyncGenerator<CapturedEvent> {
  if (!follow && named === undefined) {
    yield* await store.getRecentEvents(taskDir, dispatchId, lines);
    return;
  }
  const log = await store.openDispatch(taskDir, dispatchId);
  const after =
    named === undefined
      ? (await log.last(lines)).first - 1
      : await findPosition(context, store, {
          taskDir,
          dispatchId,
          after: named,
          onRead: (event) => names.learn(event),
        });
  for await (const item of log.follow({ after, signal: context.readSignal })) {
    if (item.kind === 'event') yield item.event;
    else if (!follow) return;
  }
}
