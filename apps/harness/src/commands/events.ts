import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { matchesEventType } from '@hansard/views';
import { findDispatch } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { type CliContext, letInterrupt, note } from '../terminal/context.ts';
import { createEventPrinter, type EventPrinter } from '../terminal/event-printer.ts';
import { parseCount } from '../terminal/parse-count.ts';

interface EventsOptions extends CommonOptions {
  readonly type?: string;
  readonly tail?: number;
}

export const addEvents: AddCommand = (program, context) => {
  withCommonOptions(program.command('events'))
    .argument('<task>', taskHelp)
    .argument('<dispatch>', dispatchHelp)
    .description('the events of a dispatch, a line each')
    .option('--type <pattern>', "only these types, such as 'agent:*' or 'harness:loop_*'")
    .option('--tail <n>', 'only the last n events (of that type)', parseCount({ example: 20 }))
    .addHelpText(
      'after',
      "\nExamples:\n  hansard events research/route-models latest --type 'agent:*'\n  hansard events research/route-models 4K7Q --tail 20 --json",
    )
    .action((task: string, dispatch: string, options: EventsOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { dispatchId } = await findDispatch(store, taskDir, dispatch);
        const printer = createEventPrinter(context, options.json === true);
        const seen = new Set<string>();
        const events = await selectEvents(context, { store, taskDir, dispatchId, printer, seen }, options);
        let printed = 0;
        for await (const event of events) {
          printer.print(event);
          printed += 1;
        }
        if (printed === 0) noteNothing(context, dispatchId, seen, options);
      }),
    );
};

interface EventSource {
  readonly store: DispatchStore;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly printer: EventPrinter;
  /** Takes in the types of all events that are read. */
  readonly seen: Set<string>;
}

/** No output may be the answer, or a type that was written in another way. */
function noteNothing(
  context: CliContext,
  dispatchId: string,
  seen: ReadonlySet<string>,
  { type, tail }: EventsOptions,
): void {
  if (type === undefined || tail === 0) return;
  const there = seen.size === 0 ? 'It has none at all.' : `There are: ${[...seen].sort().join(', ')}.`;
  note(context, `hansard: ${dispatchId} has no event of type ${type}. ${there}`);
}

async function selectEvents(
  context: CliContext,
  source: EventSource,
  { type = '*', tail }: EventsOptions,
): Promise<AsyncIterable<CapturedEvent> | CapturedEvent[]> {
  if (tail !== undefined && type === '*')
    return await source.store.getRecentEvents(source.taskDir, source.dispatchId, tail);
  const matching = matchingEvents(context, source, type);
  if (tail === undefined) return matching;
  const last: CapturedEvent[] = [];
  for await (const event of matching) {
    last.push(event);
    if (last.length > tail) last.shift();
  }
  return last;
}

/** Page by page, so that a dispatch of any length can be read. The printer learns names from what does not match, too. */
async function* matchingEvents(
  context: CliContext,
  { store, taskDir, dispatchId, printer, seen }: EventSource,
  type: string,
): AsyncIterable<CapturedEvent> {
  const log = await store.openDispatch(taskDir, dispatchId);
  for await (const { events } of log.pages()) {
    await letInterrupt(context);
    for (const event of events) {
      printer.learn(event);
      seen.add(event.type);
      if (matchesEventType(type, event.type)) yield event;
    }
  }
}
