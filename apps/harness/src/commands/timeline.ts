import type { DispatchStore } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { formatDuration, formatSpending } from '@hansard/facts';
import {
  type BotView,
  botView,
  renderTimeline,
  type TimelineRow,
  type TimelineSource,
  taskTimeline,
} from '@hansard/views';
import { HeapRestraint } from '../import/heap-restraint.ts';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
} from '../tasks/filter-options.ts';
import { findDispatches } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { createPainter } from '../terminal/painter.ts';
import { atShownTime } from '../terminal/shown-time.ts';
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
        const bot = options.bot === undefined ? null : ofBot(all, options.bot, task);
        const envelopes = bot?.envelopes ?? all;
        const request = await FilterRequest.parse(context, options);
        const sources = await sourcesOf(context, store, { taskDir, envelopes, request });
        const isOnly = envelopes.length === 1;
        return {
          rows: documents(taskTimeline(sources)),
          text: renderTimeline(inZone(context, taskTimeline(sources)), {
            width: terminalWidth(context),
            paint: createPainter(context),
            ...(!isOnly && { role: ({ role, dispatchId }) => `${role} ${dispatchId.slice(-shortId)}` }),
          }),
          isPainted: true,
          notesBefore: bot === null ? [] : [botInWords(bot)],
        };
      }),
    );
};

async function* documents(rows: AsyncIterable<TimelineRow>): AsyncGenerator<unknown> {
  for await (const { dispatchId, role, position, event } of rows) yield { dispatchId, role, position, event };
}

async function* inZone(context: CliContext, rows: AsyncIterable<TimelineRow>): AsyncGenerator<TimelineRow> {
  for await (const row of rows) {
    const event = atShownTime(context, row.event);
    yield event === row.event ? row : { ...row, event, words: { ...row.words, timestamp: event.timestamp } };
  }
}

/** Agents are found in each dispatch on its own. */
async function sourcesOf(
  context: CliContext,
  store: DispatchStore,
  task: {
    readonly taskDir: string;
    readonly envelopes: readonly DispatchEnvelope[];
    readonly request: FilterRequest;
  },
): Promise<TimelineSource[]> {
  const { taskDir, envelopes, request } = task;
  const sources: TimelineSource[] = [];
  for (const envelope of envelopes) {
    const source = { envelope, pages: () => storedPages(context, store, taskDir, envelope) };
    if (request.isOpen) sources.push(source);
    else {
      const filter = await (envelopes.length === 1 ? request.forOnly(source) : request.forOneOf(source));
      sources.push({ ...source, passes: (event) => filter.passes(event) });
    }
  }
  return sources;
}

async function* storedPages(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  { dispatchId }: DispatchEnvelope,
): AsyncGenerator<readonly CapturedEvent[]> {
  using heap = new HeapRestraint();
  for await (const events of interruptedPages(context, await store.openDispatch(taskDir, dispatchId))) {
    heap.hold();
    yield events;
  }
}

/** The dispatches of one bot. @throws CliError that names the known bots if it has none */
function ofBot(envelopes: readonly DispatchEnvelope[], botId: string, task: string): BotView {
  const view = botView(envelopes, botId);
  if (view.envelopes.length > 0) return view;
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
