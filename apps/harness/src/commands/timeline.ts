import type { DispatchEnvelope } from '@hansard/events';
import {
  type BotView,
  botView,
  type EventFilter,
  formatDuration,
  formatSpending,
  renderTimeline,
  type TaskTimelineRow,
  type TimelineRow,
  type TimelineSource,
  taskTimeline,
} from '@hansard/views';
import { type FilterOptions, FilterRequest, inOnePage, withFilterOptions } from '../tasks/filter-options.ts';
import { findDispatches } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { letInterrupt, terminalWidth } from '../terminal/context.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface TimelineOptions extends CommonOptions, FilterOptions {
  readonly bot?: string;
}

/** How many of the last characters of a dispatch's id are printed. */
const shortId = 6;

export const addTimeline: AddCommand = (command, context) => {
  withFilterOptions(withCommonOptions(command))
    .option('--bot <id>', 'print only events of this bot')
    .addHelpText(
      'after',
      '\nExamples:\n  hansard timeline chat/cafe\n  hansard timeline chat/cafe --bot bot-7\n  hansard timeline chat/cafe --agent jill --since 15:04',
    )
    .action((task: string, options: TimelineOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = await findTask(store, task);
        const all = await findDispatches(store, taskDir);
        const dispatches = options.bot === undefined ? all : ofBot(all, options.bot, task);
        const logs: TimelineSource[] = [];
        for (const envelope of dispatches) {
          await letInterrupt(context);
          logs.push({ envelope, events: await store.getDispatchEvents(taskDir, envelope.dispatchId) });
        }
        const view = options.bot === undefined ? null : botView(logs, options.bot);
        const request = await FilterRequest.parse(options);
        const placed = await selectedRows(request, logs, view?.rows ?? taskTimeline(logs));
        const shown = dispatches.length === 1 ? placed.map(withoutRole) : placed.map(withDispatch);
        return {
          rows: placed.map(({ dispatchId, role, position, event }) => ({
            dispatchId,
            role,
            position,
            event,
          })),
          text: renderTimeline(shown, { width: terminalWidth(context) }),
          notesBefore: view === null ? [] : [botInWords(view)],
        };
      }),
    );
};

/** The rows whose events are requested. Agents are found in each dispatch on its own. */
async function selectedRows(
  request: FilterRequest,
  logs: readonly TimelineSource[],
  rows: readonly TaskTimelineRow[],
): Promise<readonly TaskTimelineRow[]> {
  if (request.isOpen) return rows;
  const filters = new Map<string, EventFilter>();
  for (const { envelope, events } of logs) {
    const source = { envelope, pages: () => inOnePage(events) };
    const filter = await (logs.length === 1 ? request.forOnly(source) : request.forOneOf(source));
    filters.set(envelope.dispatchId, filter);
  }
  return rows.filter(({ dispatchId, event }) => filters.get(dispatchId)?.passes(event));
}

function withoutRole({ position, event, line }: TaskTimelineRow): TimelineRow {
  return { position, event, line };
}

function withDispatch({ role, dispatchId, ...row }: TaskTimelineRow): TimelineRow {
  return { ...row, role: `${role} ${dispatchId.slice(-shortId)}` };
}

/** The dispatches of one bot. @throws CliError that names the known bots if it has none */
function ofBot(envelopes: readonly DispatchEnvelope[], botId: string, task: string): DispatchEnvelope[] {
  const own = envelopes.filter((envelope) => envelope.botId === botId);
  if (own.length > 0) return own;
  const bots = [...new Set(envelopes.flatMap(({ botId: other }) => other ?? []))];
  throw new CliError(
    exitCode.failed,
    `No dispatch of ${task} belongs to the bot ${botId}.`,
    bots.length === 0 ? 'None of its dispatches names a bot.' : `Its bots: ${bots.join(', ')}.`,
  );
}

function botInWords({ botId, envelopes, figures }: BotView): string {
  const { durationMs } = figures;
  const spent = formatSpending(figures);
  return [
    `${botId}: ${envelopes.length} ${envelopes.length === 1 ? 'dispatch' : 'dispatches'}`,
    ...(durationMs === null ? [] : [formatDuration(durationMs)]),
    ...(spent === null ? [] : [spent]),
  ].join(', ');
}
