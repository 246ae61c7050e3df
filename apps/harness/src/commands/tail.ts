import type { PositionedEvent } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { Option } from 'commander';
import { answerEvents, type EventSource, positioned } from '../tasks/answer-events.ts';
import { findEvent, searchedDispatch } from '../tasks/find-event.ts';
import { type AddCommand, afterHelp, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface TailOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly after?: string;
}

export const addTail: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('-n, --lines <n>', 'print this many events', parseCount({ example: 20 }), 10)
    .addOption(new Option('--after <event>', afterHelp).conflicts('lines'))
    .option('-f, --follow', 'print new events of any process until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard tail research/route-models\n  hansard tail -f research/route-models 4K7Q --json\n  hansard tail -f research/route-models --after 120',
    )
    .action((task: string, dispatch = 'latest', options: TailOptions) =>
      answerEvents(context, options, { task, dispatch }, (source) => lastEvents(context, source, options)),
    );
};

async function* lastEvents(
  context: CliContext,
  { log, names }: EventSource,
  { follow = false, lines, after: named }: TailOptions,
): AsyncGenerator<PositionedEvent> {
  if (!follow && named === undefined) {
    yield* positioned(await log.last(lines));
    return;
  }
  const learn = (event: CapturedEvent) => names.learn(event);
  const after =
    named === undefined
      ? (await log.last(lines)).first - 1
      : (await findEvent(searchedDispatch(context, log, learn), named)).position;
  for await (const item of log.follow({ after, signal: context.readSignal })) {
    if (item.kind === 'event') yield item;
    else if (!follow) return;
  }
}
