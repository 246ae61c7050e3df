import type { CapturedEvent } from '@hansard/events';
import { renderTimeline, timelineOf } from '@hansard/views';
import { type AddCommand, type CommonOptions, taskHelp, withCommonOptions, withStore } from '../command.ts';
import { letInterrupt, printJson, printLine } from '../context.ts';
import { findDispatches } from '../find-dispatch.ts';
import { toTaskDir } from '../task-name.ts';

interface PlacedEvent {
  readonly dispatchId: string;
  readonly role: string;
  readonly position: number;
  readonly event: CapturedEvent;
}

export const addTimeline: AddCommand = (program, context) => {
  withCommonOptions(program.command('timeline'))
    .argument('<task>', taskHelp)
    .description(
      'everything that happened on a task, across its dispatches: by time, then dispatch, then position',
    )
    .addHelpText('after', '\nExample:\n  hansard timeline chat/cafe')
    .action((task: string, options: CommonOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const placed: PlacedEvent[] = [];
        for (const { dispatchId, role } of await findDispatches(store, taskDir)) {
          await letInterrupt(context);
          const events = await store.getDispatchEvents(taskDir, dispatchId);
          placed.push(...events.map((event, position) => ({ dispatchId, role, position, event })));
        }
        placed.sort(inTime);
        if (options.json) for (const row of placed) printJson(context, row);
        else printLine(context, renderTimeline(timelineOf(placed.map(({ event }) => event))));
      }),
    );
};

function inTime(left: PlacedEvent, right: PlacedEvent): number {
  return (
    compare(left.event.timestamp, right.event.timestamp) ||
    compare(left.dispatchId, right.dispatchId) ||
    left.position - right.position
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
