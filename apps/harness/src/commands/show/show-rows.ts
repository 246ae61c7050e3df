import { shownStatus, toTaskName } from '@hansard/compose';
import { eventNamed, type PagedLog, pagedLog } from '@hansard/compose/reading';
import { copiedEvents } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  createDispatchFacts,
  type DispatchFacts,
  dayHeading,
  formatCost,
  formatTime,
  formatUsage,
  shortId,
  timeNotRecorded,
  withOpenCalls,
} from '@hansard/facts';
import {
  type FoldedRows,
  inOrderOfTime,
  isStoredRow,
  type Row,
  type RowFolds,
  renderEnvelope,
  renderRow,
  shownRows,
} from '@hansard/views';
import type { Answer } from '../../terminal/answer.ts';
import { type CliContext, letInterrupt, terminalWidth } from '../../terminal/context.ts';
import { fitLines } from '../../terminal/fit-lines.ts';
import { createPainter } from '../../terminal/painter.ts';
import { atShownTime, shownTime } from '../../terminal/shown-time.ts';
import { askedBranch, damagedAccess, lastOf, type Shown } from './shown.ts';

/** A session whose rows are printed. */
interface Printed {
  readonly envelope: DispatchEnvelope;
  /** The figures of the events that were read so far. */
  readonly totals: DispatchFacts;
}

interface PrintedRow {
  readonly of: Printed;
  readonly row: Row;
}

/** The rows of sessions in order of time. `event`: where to begin, in the only one. */
export async function rowsAnswer(
  context: CliContext,
  shown: Shown,
  event: string | undefined,
): Promise<Answer> {
  const { branch } = shown.options;
  const from = event === undefined ? null : await positionOf(context, shown, event);
  const only =
    branch === undefined ? undefined : await askedBranch(context, await logOf(context, shown), branch);
  const printed = shown.envelopes.map((envelope) => ({ envelope, totals: createDispatchFacts() }));
  const all = () =>
    inOrderOfTime(
      printed.map((of) => ({
        envelope: of.envelope,
        items: () => timedRows(context, shown, of, { from, only }),
      })),
    );
  const { lines } = shown.options;
  const rows = () =>
    lines === undefined ? all() : event === undefined ? lastOf(all(), lines) : firstOf(all(), lines);
  return {
    rows: documents(printed, rows()),
    text: texts(context, shown, printed, rows()),
    isPainted: true,
    notesAfter: () => shown.request.notes('rows'),
  };
}

async function positionOf(context: CliContext, shown: Shown, event: string): Promise<number> {
  return (await eventNamed(await logOf(context, shown), event, context)).position;
}

/** The log of the only session. */
async function logOf(context: CliContext, { store, taskDir, envelopes, options }: Shown): Promise<PagedLog> {
  const log = await store.openDispatch(taskDir, envelopes[0]?.dispatchId ?? '', damagedAccess(options));
  return pagedLog(log, context.readSignal);
}

/** The position from which on rows are printed, null for all; and the only positions of events that are printed. */
interface PrintedPart {
  readonly from: number | null;
  readonly only: ReadonlySet<number> | undefined;
}

async function* timedRows(
  context: CliContext,
  { store, taskDir, envelopes, request, options }: Shown,
  of: Printed,
  { from, only }: PrintedPart,
): AsyncGenerator<{ readonly time: string | null; readonly item: PrintedRow }, undefined> {
  await letInterrupt(context);
  const log = await store.openDispatch(taskDir, of.envelope.dispatchId, damagedAccess(options));
  const paged = pagedLog(log, context.readSignal);
  const filter = await (envelopes.length === 1 ? request.forOnly(paged) : request.forOneOf(paged));
  const isOpen = (folded: FoldedRows, folds: RowFolds) =>
    options.full === true ||
    only !== undefined ||
    !filter.isOpen ||
    (from !== null && folds.at(from) === folded);
  const rows = shownRows(counted(paged, of.totals), filter, {
    ...{ hasEnded: log.envelope.status !== 'running', only, isOpen },
    copied: await copiedEvents(store, log, log.envelope),
    // The order of several sessions depends on the rows before.
    last: envelopes.length === 1 && from === null ? options.lines : undefined,
  });
  for await (const row of rows) if (isFrom(row, from ?? 0)) yield { time: row.timestamp, item: { of, row } };
}

/** A log whose figures that its envelope does not have yet are summed while it is read for the first time. */
function counted({ envelope, pages }: PagedLog, totals: DispatchFacts): Pick<PagedLog, 'envelope' | 'pages'> {
  let next = envelope.folded === null ? 0 : envelope.folded.through + 1;
  return {
    envelope,
    async *pages(options) {
      for await (const page of pages(options)) {
        for (const [at, event] of page.events.entries()) {
          if (page.first + at !== next) continue;
          totals.observe(event);
          next += 1;
        }
        yield page;
      }
    },
  };
}

/** Whether a row begins at a position or later, has the event of that position, or stands for later rows. */
function isFrom({ position, events, fold }: Row, from: number): boolean {
  if (position >= from || events.includes(from)) return true;
  return fold !== undefined && (events.at(-1) ?? 0) >= from;
}

async function* firstOf<Item>(items: AsyncIterable<Item>, count: number): AsyncGenerator<Item> {
  let left = count;
  if (left === 0) return;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

/** A document for each session, before its first row, and one for each row. */
async function* documents(
  printed: readonly Printed[],
  rows: AsyncIterable<PrintedRow>,
): AsyncGenerator<unknown> {
  for (const { envelope } of printed) yield { kind: 'dispatch', dispatchId: envelope.dispatchId, envelope };
  for await (const { of, row } of rows) yield { dispatchId: of.envelope.dispatchId, ...row };
}

async function* texts(
  context: CliContext,
  { store, taskDir, envelopes, request, options }: Shown,
  printed: readonly Printed[],
  rows: AsyncIterable<PrintedRow>,
): AsyncGenerator<string> {
  const statusOf = await shownStatus(store, taskDir, envelopes);
  const paint = createPainter(context);
  const width = terminalWidth(context);
  const rowOptions = { width, full: options.full ?? false, hint: '--full shows all', paint };
  for (const { envelope } of printed) {
    const facts = renderEnvelope(inZone(context, envelope), {
      status: statusOf(envelope),
      task: toTaskName(taskDir),
    });
    yield `${width === undefined ? facts : fitLines(facts, width)}\n`;
  }
  let [day, last] = ['', ''];
  let hasUntimed = false;
  for await (const { of, row: recorded } of rows) {
    const row = atShownTime(context, recorded);
    const heading = isStoredRow(row) ? null : dayHeading(row.timestamp, day);
    if (heading !== null) yield paint('dim', heading);
    day = heading ?? day;
    hasUntimed ||= row.timestamp === null && !isStoredRow(row);
    const { dispatchId, role } = of.envelope;
    if (printed.length > 1 && dispatchId !== last)
      yield paint('strong', neutraliseControlsInLine(`${role} ${shortId(dispatchId)}`));
    last = dispatchId;
    yield renderRow(row, rowOptions);
  }
  if (day === '') yield request.isOpen ? '(no events)' : '(no event passes)';
  if (hasUntimed && day !== timeNotRecorded) yield paint('dim', `${formatTime(null)}  ${timeNotRecorded}`);
  for (const { envelope, totals } of printed) yield* soFar(envelope, totals);
}

function inZone(context: CliContext, envelope: DispatchEnvelope): DispatchEnvelope {
  const { startedAt, completedAt } = envelope;
  return {
    ...envelope,
    startedAt: shownTime(context, startedAt),
    completedAt: shownTime(context, completedAt),
  };
}

/** What the log says about cost and usage while the envelope does not. */
function* soFar(envelope: DispatchEnvelope, totals: DispatchFacts): Generator<string> {
  const { cost, usage } = withOpenCalls(envelope);
  const lines = [
    ...(cost === null && totals.costUsd !== null ? [`cost so far   ${formatCost(totals.costUsd)}`] : []),
    ...(usage === null && totals.usage !== null ? [`usage so far  ${formatUsage(totals.usage)}`] : []),
  ];
  if (lines.length > 0) yield ['', ...lines].join('\n');
}
