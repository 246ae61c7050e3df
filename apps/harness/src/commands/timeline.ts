import type { DispatchEnvelope } from '@hansard/events';
import {
  type BotView,
  botView,
  type DispatchLog,
  formatCost,
  formatDuration,
  renderTimeline,
  type TaskTimelineRow,
  type TimelineRow,
  taskTimeline,
} from '@hansard/views';
import { findDispatches } from '../tasks/find-dispatch.ts';
import { toTaskDir } from '../tasks/task-name.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import {
  type AddCommand,
  type CommonOptions,
  taskHelp,
  withCommonOptions,
  withStore,
} from '../terminal/command.ts';
import { letInterrupt, note, printJson, printLine, terminalWidth } from '../terminal/context.ts';

interface TimelineOptions extends CommonOptions {
  readonly bot?: string;
}

/** As many of the last characters of a dispatch's id as tell it from others. */
const shortId = 6;

export const addTimeline: AddCommand = (program, context) => {
  withCommonOptions(program.command('timeline'))
    .argument('<task>', taskHelp)
    .description(
      'everything that happened on a task, across its dispatches: by time, then dispatch, then position',
    )
    .option('--bot <id>', 'only what this bot did')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard timeline chat/cafe\n  hansard timeline chat/cafe --bot bot-7',
    )
    .action((task: string, options: TimelineOptions) =>
      withStore(context, options, async ({ store }) => {
        const taskDir = toTaskDir(task);
        const all = await findDispatches(store, taskDir);
        const dispatches = options.bot === undefined ? all : ofBot(all, options.bot, task);
        const logs: DispatchLog[] = [];
        for (const envelope of dispatches) {
          await letInterrupt(context);
          logs.push({ envelope, events: await store.getDispatchEvents(taskDir, envelope.dispatchId) });
        }
        const view = options.bot === undefined ? null : botView(logs, options.bot);
        const placed = view?.rows ?? taskTimeline(logs);
        if (view !== null && !options.json) note(context, botInWords(view));
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

function withoutRole({ position, event, line }: TaskTimelineRow): TimelineRow {
  return { position, event, line };
}

function withDispatch({ role, dispatchId, ...row }: TaskTimelineRow): TimelineRow {
  return { ...row, role: `${role} ${dispatchId.slice(-shortId)}` };
}

/** The dispatches of one bot; an error that says which bots there are where it has none. */
function ofBot(envelopes: readonly DispatchEnvelope[], botId: string, task: string): DispatchEnvelope[] {
  const own = envelopes.filter((envelope) => envelope.botId === botId);
  if (own.length > 0) return own;
  const bots = [...new Set(envelopes.flatMap(({ botId: other }) => other ?? []))];
  throw new CliError(
    exitCode.failed,
    `No dispatch of ${task} is of a bot ${botId}.`,
    bots.length === 0 ? 'None of them names a bot.' : `There are: ${bots.join(', ')}.`,
  );
}

function botInWords({ botId, envelopes, figures: { costUsd, durationMs } }: BotView): string {
  return [
    `${botId}: ${envelopes.length} ${envelopes.length === 1 ? 'dispatch' : 'dispatches'}`,
    ...(durationMs === null ? [] : [formatDuration(durationMs)]),
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
  ].join(', ');
}
