import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { DispatchListing, StoreError } from '@hansard/provider';
import {
  AgentUsage,
  addModels,
  explainEstimates,
  figuresOfDispatch,
  formatCost,
  formatDuration,
  formatTokens,
  neutraliseControlsInLine,
  ToolUsage,
  tokensIn,
  type UsageFigures,
  type UsageRow,
  UsageSums,
} from '@hansard/views';
import { Option } from 'commander';
import { interruptedPages } from '../tasks/filter-options.ts';
import { listAll } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { projectOf, toTaskName } from '../tasks/task-name.ts';
import { type LimitOptions, timeLimitsOf, withTimeLimits } from '../tasks/time-limits.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { createProgress } from '../terminal/progress.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

const keys = ['day', 'project', 'task', 'model', 'agent', 'tool'] as const;
type Key = (typeof keys)[number];

interface UsageOptions extends CommonOptions, LimitOptions {
  readonly by: Key;
  readonly limit?: number;
}

const notKnown = '–';
const barColumns = 12;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export const addUsage: AddCommand = (command, context) => {
  withTimeLimits(withCommonOptions(command), 'count only dispatches that began')
    .addOption(new Option('--by <key>', 'a row for each of these').choices(keys).default('model'))
    .option('--limit <n>', 'print only the n rows that used the most', parseCount({ from: 1, example: 10 }))
    .addHelpText(
      'after',
      [
        '',
        'By day, project, task and model the envelopes of the dispatches are enough. By agent and tool every event is',
        'read, and only what events record of each call is counted. A dispatch does not include its workers, which are',
        `dispatches of their own. ${notKnown} means that nothing recorded says it. Estimates are never in the cost.`,
        '',
        'Examples:',
        '  hansard usage',
        '  hansard usage research/route-models --by tool',
        '  hansard usage --by day --since 2026-03-01 --json',
      ].join('\n'),
    )
    .action((task: string | undefined, options: UsageOptions) =>
      answerFromStore(context, options, async ({ store }) => {
        const taskDir = task === undefined ? undefined : await findTask(store, task);
        const listings = await listAll(store, taskDir === undefined ? {} : { taskDir });
        const began = timesOf(context, options);
        const chosen = listings.filter(({ envelope }) => envelope !== null && began(envelope));
        const failures = listings.flatMap(({ error }) => error ?? []);
        const sums = await sumUp(context, store, chosen, options.by, failures);
        return answerOf(context, sums, options, chosen, failures);
      }),
    );
};

/** Whether a dispatch began in the time that was asked for. */
function timesOf(context: CliContext, options: LimitOptions): (envelope: DispatchEnvelope) => boolean {
  const { since = -Infinity, until = Infinity } = timeLimitsOf(context, options, null);
  return ({ startedAt }) => Date.parse(startedAt) >= since && Date.parse(startedAt) <= until;
}

async function sumUp(
  context: CliContext,
  store: DispatchStore,
  listings: readonly DispatchListing[],
  by: Key,
  failures: StoreError[],
): Promise<UsageSums> {
  const sums = new UsageSums();
  const progress = createProgress(context, 'reading dispatches');
  try {
    for (const [at, { taskDir, dispatchId, envelope }] of listings.entries()) {
      if (envelope === null || dispatchId === null) continue;
      if (by === 'model') addModels(sums, envelope);
      else if (by !== 'agent' && by !== 'tool')
        sums.add(keyOf(context, by, taskDir, envelope), figuresOfDispatch(envelope));
      else {
        progress.update(at, listings.length);
        try {
          await readInto(context, store, { taskDir, dispatchId, envelope }, by, sums);
        } catch (error) {
          if (explainError(error).exitCode !== exitCode.damaged) throw error;
          failures.push(error as StoreError);
        }
      }
    }
  } finally {
    progress.end();
  }
  return sums;
}

function keyOf(
  context: CliContext,
  by: 'day' | 'project' | 'task',
  taskDir: string,
  { startedAt }: DispatchEnvelope,
): string {
  if (by === 'day') return shownTime(context, startedAt).slice(0, 10);
  return by === 'task' ? toTaskName(taskDir) : projectOf(taskDir);
}

async function readInto(
  context: CliContext,
  store: DispatchStore,
  { taskDir, dispatchId, envelope }: { taskDir: string; dispatchId: string; envelope: DispatchEnvelope },
  by: 'agent' | 'tool',
  sums: UsageSums,
): Promise<void> {
  const own = new UsageSums();
  const agents = new AgentUsage(envelope);
  const tools = new ToolUsage(own);
  const log = await store.openDispatch({ taskDir, dispatchId });
  for await (const events of interruptedPages(context, log))
    for (const event of events) (by === 'agent' ? agents : tools).observe(event);
  // A dispatch that is damaged in the middle adds nothing.
  if (by === 'agent') agents.addTo(sums);
  else for (const { key, ...figures } of own.rows('key')) sums.add(key, figures);
}

async function answerOf(
  context: CliContext,
  sums: UsageSums,
  { by, limit = Infinity }: UsageOptions,
  listings: readonly DispatchListing[],
  failures: readonly StoreError[],
): Promise<Answer> {
  const most = sums.rows('most').slice(0, limit);
  const rows = by === 'day' ? most.toSorted((one, other) => (one.key < other.key ? -1 : 1)) : most;
  const envelopes = listings.flatMap(({ envelope }) => envelope ?? []);
  const estimates = by === 'agent' || by === 'tool' ? null : explainEstimates(envelopes);
  const hidden = sums.rows('key').length - rows.length;
  return {
    rows: [
      ...rows.map(({ key, ...figures }) => ({ by, key, ...figures })),
      { by, key: null, ...sums.total, dispatches: envelopes.length },
    ],
    text:
      rows.length === 0
        ? 'Nothing is recorded that used a model or a tool.'
        : await table(context, rows, by, { ...sums.total, dispatches: envelopes.length }),
    notesAfter: [
      ...(estimates === null ? [] : [neutraliseControlsInLine(estimates)]),
      ...(hidden === 0
        ? []
        : [`hansard: the total includes ${hidden} more rows; --limit ${rows.length + hidden} prints all.`]),
    ],
    failure: failures[0] === undefined ? null : notCounted(failures, failures[0]),
  };
}

async function table(
  context: CliContext,
  rows: readonly UsageRow[],
  by: Key,
  total: UsageFigures,
): Promise<string> {
  const width = terminalWidth(context);
  const largest = Math.max(...rows.map(weightOf));
  const head = [
    by,
    'dispatches',
    'calls',
    'failed',
    'in',
    'out',
    'cache read',
    'written',
    'cost',
    'estimated',
    'time',
    '',
  ];
  const lines = [
    ...rows.map((row) => [row.key === '' ? notKnown : row.key, ...cells(row), bar(weightOf(row), largest)]),
    ['all', ...cells(total), ''],
  ];
  // Columns that nothing is known of are left out.
  const shown = head.map(
    (_, index) => index === 0 || lines.some((line) => ![notKnown, ''].includes(line[index] ?? '')),
  );
  const keep = (line: readonly string[]) => line.filter((_, index) => shown[index]);
  return plainTable(keep(head), lines.map(keep), {
    width,
    cut: [
      { column: '', least: 0 },
      { column: by, least: 12, keep: by === 'task' || by === 'project' ? 'end' : 'start' },
      { column: 'time', least: 0 },
      { column: 'dispatches', least: 0 },
      { column: 'written', least: 0 },
    ],
  });
}

/** What the bars compare: tokens, or calls where no tokens are known. */
function weightOf(figures: UsageFigures): number {
  return tokensIn(figures) || (figures.calls ?? 0);
}

function cells(figures: UsageFigures): string[] {
  const { dispatches, calls, failures, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } =
    figures;
  const count = (value: number | null) => (value === null ? notKnown : value.toLocaleString('en'));
  const tokens = (value: number | null) => (value === null ? notKnown : formatTokens(value));
  const cost = (value: number | null) => (value === null ? notKnown : formatCost(value));
  return [
    ...[count(dispatches), count(calls), count(failures)],
    ...[tokens(inputTokens), tokens(outputTokens), tokens(cacheReadTokens), tokens(cacheWriteTokens)],
    // A lower bound is marked as in every other listing.
    ...[cost(figures.costUsd), `${cost(figures.estimatedUsd)}${isLowerBound(figures) ? '+' : ''}`],
    figures.durationMs === null ? notKnown : formatDuration(figures.durationMs),
  ];
}

function isLowerBound({ estimatedUsd, unpriced }: UsageFigures): boolean {
  return estimatedUsd !== null && unpriced.length > 0;
}

function bar(value: number, largest: number): string {
  if (largest === 0 || value === 0) return '';
  const parts = Math.max(1, Math.round((value / largest) * barColumns * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}

function notCounted(failures: readonly StoreError[], first: StoreError): CliError {
  const explained = failures.map(explainError);
  const { exitCode: code, advice } =
    explained.find((one) => one.exitCode === exitCode.damaged) ?? explainError(first);
  const count = `${failures.length} ${failures.length === 1 ? 'dispatch' : 'dispatches'} can't be read and are not counted.`;
  return new CliError(code, [count, ...explained.map(({ message }) => message)].join('\n  '), advice);
}
