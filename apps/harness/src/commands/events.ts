import type { PositionedEvent } from '@hansard/dispatch';
import { answerEvents, type DamagedOption, damagedOption, type EventSource } from '../tasks/answer-events.ts';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
} from '../tasks/filter-options.ts';
import { lastSelected, selectedEvents } from '../tasks/selected-events.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, note } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface EventsOptions extends CommonOptions, DamagedOption, FilterOptions {
  readonly tail?: number;
}

export const addEvents: AddCommand = (command, context) => {
  withFilterOptions(withCommonOptions(command))
    .option('--tail <n>', 'print only the last n of these events', parseCount({ example: 20 }))
    .option(...damagedOption)
    .addHelpText(
      'after',
      "\nExamples:\n  hansard events research/route-models latest --type 'agent:*'\n  hansard events research/route-models 4K7Q --tool Bash --failed\n  hansard events research/route-models 4K7Q --tail 20 --json",
    )
    .action((task: string, dispatch: string, options: EventsOptions) =>
      answerEvents(context, options, { task, dispatch }, (source) => listedEvents(context, source, options)),
    );
};

async function* listedEvents(
  context: CliContext,
  { log, names }: EventSource,
  options: EventsOptions,
): AsyncGenerator<PositionedEvent> {
  const request = await FilterRequest.parse(context, options);
  const pages = () => interruptedPages(context, log);
  const filter = await request.forOnly({ envelope: log.envelope, pages });
  const types = new Set<string>();
  const source = { log, names, filter, onRead: ({ type }: { readonly type: string }) => types.add(type) };
  const events =
    options.tail === undefined
      ? selectedEvents(context, source)
      : (await lastSelected(context, source, options.tail)).events;
  let selected = 0;
  for await (const item of events) {
    yield item;
    selected += 1;
  }
  if (selected === 0 && !request.isOpen && options.tail !== 0)
    note(context, `hansard: ${noEvent(log.dispatchId, request, options, types)}`);
}

/** An empty output can be correct, or the result of a mistyped type: lists the types of the dispatch. */
function noEvent(
  dispatchId: string,
  request: FilterRequest,
  { type }: EventsOptions,
  types: ReadonlySet<string>,
): string {
  if (!request.isOfTypes) return `${dispatchId} has no event that passes ${request.inWords}.`;
  const there = types.size === 0 ? 'It has no events.' : `Its types: ${[...types].sort().join(', ')}.`;
  return `${dispatchId} has no event of type ${type}. ${there}`;
}
