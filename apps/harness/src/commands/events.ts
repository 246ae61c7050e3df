import type { PositionedEvent } from '@hansard/dispatch';
import { matchesEventType } from '@hansard/views';
import {
  answerEvents,
  type DamagedOption,
  damagedOption,
  type EventSource,
  positioned,
} from '../tasks/answer-events.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, note } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface EventsOptions extends CommonOptions, DamagedOption {
  readonly type?: string;
  readonly tail?: number;
}

export const addEvents: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--type <pattern>', "print only these types, such as 'agent:*' or 'harness:loop_*'")
    .option('--tail <n>', 'print only the last n events (of that type)', parseCount({ example: 20 }))
    .option(...damagedOption)
    .addHelpText(
      'after',
      "\nExamples:\n  hansard events research/route-models latest --type 'agent:*'\n  hansard events research/route-models 4K7Q --tail 20 --json",
    )
    .action((task: string, dispatch: string, options: EventsOptions) =>
      answerEvents(context, options, { task, dispatch }, (source) =>
        selectedEvents(context, { ...source, seen: new Set() }, options),
      ),
    );
};

interface TypedSource extends EventSource {
  /** The types of all events that were read, including those that do not match. */
  readonly seen: Set<string>;
}

async function* selectedEvents(
  context: CliContext,
  source: TypedSource,
  options: EventsOptions,
): AsyncGenerator<PositionedEvent> {
  let selected = 0;
  for await (const event of await selectEvents(context, source, options)) {
    yield event;
    selected += 1;
  }
  if (selected === 0) noteNothing(context, source, options);
}

/** An empty output can be correct, or the result of a mistyped type: lists the types of the dispatch. */
function noteNothing(context: CliContext, { log, seen }: TypedSource, { type, tail }: EventsOptions): void {
  if (type === undefined || tail === 0) return;
  const there = seen.size === 0 ? 'It has no events.' : `Its types: ${[...seen].sort().join(', ')}.`;
  note(context, `hansard: ${log.dispatchId} has no event of type ${type}. ${there}`);
}

async function selectEvents(
  context: CliContext,
  source: TypedSource,
  { type = '*', tail }: EventsOptions,
): Promise<AsyncIterable<PositionedEvent> | readonly PositionedEvent[]> {
  if (tail !== undefined && type === '*') return positioned(await source.log.last(tail));
  const matching = matchingEvents(context, source, type);
  if (tail === undefined) return matching;
  const last: PositionedEvent[] = [];
  for await (const event of matching) {
    last.push(event);
    if (last.length > tail) last.shift();
  }
  return last;
}

/** Page by page, so that a dispatch of any length can be read. */
async function* matchingEvents(
  context: CliContext,
  { log, names, seen }: TypedSource,
  type: string,
): AsyncIterable<PositionedEvent> {
  for await (const page of log.pages()) {
    await letInterrupt(context);
    for (const { position, event } of positioned(page)) {
      names.learn(event);
      seen.add(event.type);
      if (matchesEventType(type, event.type)) yield { position, event };
    }
  }
}
