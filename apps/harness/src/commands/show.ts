import type { DispatchLog, DispatchStore, ReadAccess } from '@hansard/dispatch';
import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import {
  createDispatchFacts,
  type DispatchFacts,
  formatCost,
  formatUsage,
  withOpenCalls,
} from '@hansard/facts';
import { filterRows, type Row, renderEnvelope, renderRow } from '@hansard/views';
import { HeapRestraint } from '../import/heap-restraint.ts';
import { type DamagedOption, damagedAccess, damagedOption } from '../tasks/answer-events.ts';
import {
  type FilterOptions,
  FilterRequest,
  interruptedPages,
  withFilterOptions,
} from '../tasks/filter-options.ts';
import { findDispatch, findReadable } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { type ShownStatus, shownStatus } from '../tasks/shown-status.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, letInterrupt, terminalWidth } from '../terminal/context.ts';
import { fitLines } from '../terminal/fit-lines.ts';
import { createPainter } from '../terminal/painter.ts';
import { atShownTime, shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface ShowOptions extends CommonOptions, DamagedOption, FilterOptions {
  readonly full?: boolean;
}

export const addShow: AddCommand = (command, context) => {
  withFilterOptions(withCommonOptions(command))
    .option('--full', 'print long inputs and results whole, and the records of the harness')
    .option(...damagedOption)
    .addHelpText(
      'after',
      '\nExamples:\n  hansard show research/route-models latest\n  hansard show research/route-models 4K7Q --full\n  hansard show research/route-models --tool Edit --grep routes.ts\n  hansard show research/route-models 4K7Q --damaged',
    )
    .action((task: string, dispatch: string | undefined, options: ShowOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = await findTask(store, task);
        const access = damagedAccess(options);
        const { envelopes, failure } =
          dispatch === undefined
            ? await findReadable(store, taskDir)
            : { envelopes: [(await findDispatch(store, taskDir, dispatch, access)).envelope], failure: null };
        const request = await FilterRequest.parse(context, options);
        const shown = shownDispatches(context, store, { taskDir, envelopes, access, request });
        const statusOf = await shownStatus(store, taskDir, envelopes);
        return {
          rows: documents(shown),
          text: texts(context, shown, { statusOf, full: options.full ?? false, isOpen: request.isOpen }),
          isPainted: true,
          failure,
        };
      }),
    );
};

/** A dispatch whose rows are read as they are needed. */
interface ShownDispatch {
  readonly envelope: DispatchEnvelope;
  readonly rows: AsyncIterable<Row>;
  /** The figures of the events that were read so far. */
  readonly totals: DispatchFacts;
}

async function* shownDispatches(
  context: CliContext,
  store: DispatchStore,
  task: {
    readonly taskDir: string;
    readonly envelopes: readonly DispatchEnvelope[];
    readonly access: ReadAccess;
    readonly request: FilterRequest;
  },
): AsyncGenerator<ShownDispatch> {
  const { request, envelopes } = task;
  for (const { dispatchId } of envelopes) {
    await letInterrupt(context);
    const log = await store.openDispatch(task.taskDir, dispatchId, task.access);
    const totals = createDispatchFacts();
    const source = { envelope: log.envelope, pages: () => interruptedPages(context, log) };
    const filter = await (envelopes.length === 1 ? request.forOnly(source) : request.forOneOf(source));
    const hasEnded = log.envelope.status !== 'running';
    yield {
      envelope: log.envelope,
      totals,
      rows: filterRows(pagesOf(context, log, totals), filter, { hasEnded }),
    };
  }
}

async function* pagesOf(
  context: CliContext,
  log: DispatchLog,
  totals: DispatchFacts,
): AsyncGenerator<readonly CapturedEvent[]> {
  using heap = new HeapRestraint();
  for await (const { events } of log.pages()) {
    await letInterrupt(context);
    heap.hold();
    for (const event of events) totals.observe(event);
    yield events;
  }
}

async function* documents(shown: AsyncIterable<ShownDispatch>): AsyncGenerator<unknown> {
  for await (const { envelope, rows } of shown) {
    const { dispatchId } = envelope;
    yield { kind: 'dispatch', dispatchId, envelope };
    for await (const row of rows) yield { dispatchId, ...row };
  }
}

interface TextOptions {
  readonly statusOf: ShownStatus;
  readonly full: boolean;
  /** Whether all rows are shown. */
  readonly isOpen: boolean;
}

async function* texts(
  context: CliContext,
  shown: AsyncIterable<ShownDispatch>,
  { statusOf, full, isOpen }: TextOptions,
): AsyncGenerator<string> {
  const paint = createPainter(context);
  const width = terminalWidth(context);
  const options = { width, full, hint: '--full shows all', paint };
  let separator: string[] = [];
  for await (const { envelope, rows, totals } of shown) {
    yield* separator;
    const facts = renderEnvelope(inZone(context, envelope), { status: statusOf(envelope) });
    yield `${width === undefined ? facts : fitLines(facts, width)}\n`;
    let day = '';
    for await (const recorded of rows) {
      const row = atShownTime(context, recorded);
      const own = row.timestamp.slice(0, 'YYYY-MM-DD'.length);
      if (own !== day) yield paint('dim', own);
      day = own;
      yield renderRow(row, options);
    }
    if (day === '') yield isOpen ? '(no events)' : '(no event passes)';
    yield* soFar(envelope, totals);
    separator = [''];
  }
}

function inZone(context: CliContext, envelope: DispatchEnvelope): DispatchEnvelope {
  const { startedAt, completedAt } = envelope;
  return {
    ...envelope,
    startedAt: shownTime(context, startedAt),
    completedAt: completedAt === null ? null : shownTime(context, completedAt),
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
