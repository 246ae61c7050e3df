import { shownStatus, toTaskName } from '@hansard/compose';
import { eventNamed, pagedLog } from '@hansard/compose/reading';
import { copiedEvents } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
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
  filterRows,
  foldsOf,
  inOrderOfTime,
  isStoredRow,
  type Row,
  renderEnvelope,
  renderRow,
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
  const from = event === undefined ? null : await positionOf(context, shown, event);
  const printed = shown.envelopes.map((envelope) => ({ envelope, totals: createDispatchFacts() }));
  const all = () =>
    inOrderOfTime(
      printed.map((of) => ({ envelope: of.envelope, items: () => timedRows(context, shown, of, from) })),
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

async function positionOf(
  context: CliContext,
  { store, taskDir, envelopes, options }: Shown,
  event: string,
): Promise<number> {
  const log = await store.openDispatch(taskDir, envelopes[0]?.dispatchId ?? '', damagedAccess(options));
  return (await eventNamed(pagedLog(log, context.readSignal), event, context)).position;
}

async function* timedRows(
  context: CliContext,
  { store, taskDir, envelopes, request, options }: Shown,
  of: Printed,
  from: number | null,
): AsyncGenerator<{ readonly time: string | null; readonly item: PrintedRow }, undefined> {
  await letInterrupt(context);
  const log = await store.openDispatch(taskDir, of.envelope.dispatchId, damagedAccess(options));
  const paged = pagedLog(log, context.readSignal);
  const filter = await (envelopes.length === 1 ? request.forOnly(paged) : request.forOneOf(paged));
  const hasEnded = log.envelope.status !== 'running';
  const pages = async function* (): AsyncGenerator<readonly CapturedEvent[]> {
    for await (const { events } of paged.pages()) {
      for (const event of events) of.totals.observe(event);
      yield events;
    }
  };
  const only = await askedBranch(context, paged, options);
  const folds = await foldsOf(paged, {}, await copiedEvents(store, log, log.envelope));
  const isOpen = (folded: FoldedRows) =>
    options.full === true ||
    only !== undefined ||
    !filter.isOpen ||
    (from !== null && folds?.at(from) === folded);
  for await (const whole of filterRows(pages(), filter, { hasEnded, only })) {
    const row = folds === null ? whole : folds.shown(whole, isOpen);
    if (row !== null && isFrom(row, from ?? 0)) yield { time: row.timestamp, item: { of, row } };
  }
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
