import type { PositionedEvent } from '@hansard/dispatch';
import { Option } from 'commander';
import { answerEvents, type EventSource } from '../tasks/answer-events.ts';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
} from '../tasks/filter-options.ts';
import { findEvent, searchedDispatch } from '../tasks/find-event.ts';
import { lastSelected } from '../tasks/selected-events.ts';
import { type AddCommand, afterHelp, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface TailOptions extends CommonOptions, FilterOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly after?: string;
}

export const addTail: AddCommand = (command, context) => {
  withFilterOptions(withCommonOptions(command))
    .option('-n, --lines <n>', 'print this many events', parseCount({ example: 20 }), 10)
    .addOption(new Option('--after <event>', afterHelp).conflicts('lines'))
    .option('-f, --follow', 'print new events of any process until Ctrl-C')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard tail research/route-models\n  hansard tail -f research/route-models 4K7Q --json\n  hansard tail -f research/route-models --after 120 --failed',
    )
    .action((task: string, dispatch = 'latest', options: TailOptions) =>
      answerEvents(context, options, { task, dispatch }, (source) => lastEvents(context, source, options)),
    );
};

async function* lastEvents(
  context: CliContext,
  { log, names }: EventSource,
  options: TailOptions,
): AsyncGenerator<PositionedEvent> {
  const { follow = false, lines, after: named } = options;
  const pages = () => interruptedPages(context, log);
  const request = await FilterRequest.parse(context, options);
  const filter = await request.forOnly({ envelope: log.envelope, pages });
  let after: number;
  if (named === undefined) {
    const { events, end } = await lastSelected(context, { log, names, filter }, lines);
    yield* events;
    if (!follow) return;
    after = end;
  } else {
    const searched = searchedDispatch(context, log, (event) => names.learn(event));
    after = (await findEvent(searched, named)).position;
  }
  for await (const item of log.follow({ after, signal: context.readSignal })) {
    if (item.kind === 'caught_up') {
      if (!follow) return;
      continue;
    }
    names.learn(item.event);
    if (filter.passes(item.event)) yield item;
  }
}
