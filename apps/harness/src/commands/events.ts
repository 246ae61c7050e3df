import type { DispatchStore } from '@hansard/dispatch';
import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { eventLine, matchesEventType, renderEventLine } from '@hansard/views';
import {
  type AddCommand,
  type CommonOptions,
  dispatchHelp,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../command.ts';
import { type CliContext, letInterrupt, printLine, terminalWidth } from '../context.ts';
import { findDispatch } from '../find-dispatch.ts';
import { parseCount } from '../parse-count.ts';
import { toTaskDir } from '../task-name.ts';

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
    .option('--tail <n>', 'only the last n events (of that type)', parseCount)
    .addHelpText(
      'after',
      "\nExamples:\n  hansard events research/route-models latest --type 'agent:*'\n  hansard events research/route-models 4K7Q --tail 20 --json",
    )
    .action((task: string, dispatch: string, options: EventsOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const { dispatchId } = await findDispatch(store, taskDir, dispatch);
        const events = await selectEvents(context, store, taskDir, dispatchId, options);
        for await (const event of events) printEvent(context, event, options.json === true);
      }),
    );
};

/** One event for people, or as its line of JSON. */
export function printEvent(context: CliContext, event: CapturedEvent, json: boolean): void {
  const width = terminalWidth(context);
  printLine(context, json ? encodeEvent(event) : renderEventLine(eventLine(event), { width }));
}

async function selectEvents(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  { type = '*', tail }: EventsOptions,
): Promise<AsyncIterable<CapturedEvent> | CapturedEvent[]> {
  if (tail !== undefined && type === '*') return await store.getRecentEvents(taskDir, dispatchId, tail);
  const matching = matchingEvents(context, store, taskDir, dispatchId, type);
  if (tail === undefined) return matching;
  const last: CapturedEvent[] = [];
  for await (const event of matching) {
    last.push(event);
    if (last.length > tail) last.shift();
  }
  return last;
}

/** Page by page, so that a dispatch of any length can be read. */
async function* matchingEvents(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  type: string,
): AsyncIterable<CapturedEvent> {
  let after = -1;
  while (true) {
    await letInterrupt(context);
    const page = await store.readEvents(taskDir, dispatchId, { after });
    if (page.events.length === 0) return;
    for (const event of page.events) if (matchesEventType(type, event.type)) yield event;
    after = page.next;
  }
}
