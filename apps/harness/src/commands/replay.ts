import { createInterface } from 'node:readline';
import { type PositionedEvent, type ReplayPace, replayDispatch } from '@hansard/dispatch';
import { type CapturedEvent, definedOnly } from '@hansard/events';
import { InvalidArgumentError, Option } from 'commander';
import { answerEvents, type EventSource } from '../tasks/answer-events.ts';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
} from '../tasks/filter-options.ts';
import { findEvent, searchedDispatch } from '../tasks/find-event.ts';
import { type AddCommand, afterHelp, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseDuration } from '../terminal/parse-duration.ts';

interface ReplayCommandOptions extends CommonOptions, FilterOptions {
  readonly speed: ReplayPace;
  readonly maxGap?: number;
  readonly after?: string;
  readonly step?: boolean;
}

export const addReplay: AddCommand = (command, context) => {
  withFilterOptions(withCommonOptions(command))
    .option(
      '--speed <factor>',
      'play faster (4) or slower (0.5) than recorded, or without waiting (max)',
      parseSpeed,
      1,
    )
    .option('--max-gap <duration>', 'shorten each pause to this, such as 500ms, 2s or 1m', parseDuration)
    .option('--after <event>', afterHelp)
    .addOption(new Option('--step', 'wait for Enter before each event').conflicts(['speed', 'maxGap']))
    .addHelpText(
      'after',
      '\nExamples:\n  hansard replay research/route-models --speed 4 --max-gap 2s\n  hansard replay research/route-models 4K7Q --after 120 --step\n  hansard replay research/route-models --speed max --json',
    )
    .action((task: string, dispatch = 'latest', options: ReplayCommandOptions) =>
      answerEvents(context, options, { task, dispatch }, (source) =>
        replayedEvents(context, source, options),
      ),
    );
};

async function* replayedEvents(
  context: CliContext,
  { log, names }: EventSource,
  options: ReplayCommandOptions,
): AsyncGenerator<PositionedEvent> {
  const { speed, maxGap, after, step = false } = options;
  const pages = () => interruptedPages(context, log);
  const request = await FilterRequest.parse(context, options);
  const filter = await request.forOnly({ envelope: log.envelope, pages });
  const learn = (event: CapturedEvent) => names.learn(event);
  const searched = searchedDispatch(context, log, learn);
  const cursor = after === undefined ? -1 : (await findEvent(searched, after)).position;
  const replay = replayDispatch(log, {
    pace: step ? 'fast' : speed,
    ...definedOnly({ maxGapMs: maxGap }),
    after: cursor,
    signal: context.readSignal,
  });
  const selected = filter.of(learning(replay, learn));
  const items = step ? byLine(context, selected) : selected;
  for await (const { position, event } of items) yield { position, event };
}

async function* learning<Item extends { readonly event: CapturedEvent }>(
  items: AsyncIterable<Item>,
  learn: (event: CapturedEvent) => void,
): AsyncGenerator<Item> {
  for await (const item of items) {
    learn(item.event);
    yield item;
  }
}

/** Yields an item for each line of the input (Enter), until the input ends. */
async function* byLine<T>(context: CliContext, items: AsyncIterator<T>): AsyncIterable<T> {
  let next = await items.next();
  if (context.stdin.isTTY === true) note(context, 'Press Enter for the next event, Ctrl-C to stop.');
  const lines = createInterface({ input: context.stdin, signal: context.readSignal });
  try {
    if (next.done === true) return;
    for await (const _ of lines) {
      yield next.value;
      next = await items.next();
      if (next.done === true) return;
    }
  } finally {
    lines.close();
    await items.return?.();
  }
}

function parseSpeed(text: string): ReplayPace {
  if (text === 'max') return 'fast';
  const factor = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (factor > 0) return factor;
  throw new InvalidArgumentError('Give a factor above 0, such as 4 or 0.5, or max.');
}
