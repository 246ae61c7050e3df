import { renderTimeline, type TimelineRow, timelineOf } from '@hansard/views';
import { type AddCommand, type CommonOptions, taskHelp, withCommonOptions, withStore } from '../command.ts';
import { letInterrupt, printJson, printLine, terminalWidth } from '../context.ts';
import { findDispatches } from '../find-dispatch.ts';
import { toTaskDir } from '../task-name.ts';

interface PlacedRow extends TimelineRow {
  readonly dispatchId: string;
  readonly role: string;
}

/** As many of the last characters of a dispatch's id as tell it from others. */
const shortId = 6;

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
        const placed: PlacedRow[] = [];
        const dispatches = await findDispatches(store, taskDir);
        for (const { dispatchId, role } of dispatches) {
          await letInterrupt(context);
          const events = await store.getDispatchEvents(taskDir, dispatchId);
          for (const row of timelineOf(events)) placed.push({ dispatchId, role, ...row });
        }
        placed.sort(inTime);
        if (options.json) {
          for (const { dispatchId, role, position, event } of placed)
            printJson(context, { dispatchId, role, position, event });
        } else {
          const rows = dispatches.length === 1 ? placed.map(withoutRole) : placed.map(withDispatch);
          printLine(context, renderTimeline(rows, { width: terminalWidth(context) }));
        }
      }),
    );
};

function withoutRole({ position, event, line }: PlacedRow): TimelineRow {
  return { position, event, line };
}

function withDispatch({ role, dispatchId, ...row }: PlacedRow): TimelineRow {
  return { ...row, role: `${role} ${dispatchId.slice(-shortId)}` };
}

function inTime(left: PlacedRow, right: PlacedRow): number {
  return (
    compare(left.event.timestamp, right.event.timestamp) ||
    compare(left.dispatchId, right.dispatchId) ||
    left.position - right.position
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
