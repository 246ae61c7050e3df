import {
  activeAt,
  type Harness,
  type ListedTask,
  listSessions,
  listTasks,
  type SessionOrder,
  sessionOrders,
  sessionTitle,
  shownStatuses,
  storePlace,
  taskFigures,
  taskTitle,
  toTaskName,
} from '@hansard/compose';
import type { DispatchStore, ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import {
  dispatchDuration,
  explainEstimates,
  formatDuration,
  formatSpending,
  projectOf,
  shortIds,
  spendingOf,
  tokensInWords,
} from '@hansard/facts';
import type { StoreError } from '@hansard/provider';
import { Option } from 'commander';
import { unreadableSessions, unreadableTasks } from '../tasks/unreadable.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions, withExamples } from '../terminal/command.ts';
import type { CliContext } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { ago, shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

interface LsOptions extends CommonOptions {
  readonly project?: string;
  readonly machine?: string;
  readonly sort: SessionOrder;
  readonly limit?: number;
  readonly tasks?: boolean;
  readonly pending?: boolean;
  readonly status?: string;
}

export const addLs: AddCommand = (command, context) => {
  withExamples(
    withCommonOptions(command)
      .option('--tasks', 'list the tasks, with the sums of their sessions')
      .option('--pending', 'list the calls that wait for a person')
      .option('--status <status>', 'with --tasks: list only tasks of this status, such as open or done')
      .option('--project <text>', 'list only projects whose name contains this text, ignoring case')
      .option('--machine <name>', 'list only sessions whose source is on this machine')
      .addOption(
        new Option(
          '--sort <order>',
          'the order: by last activity (active), by start (newest), by figures or by title; `when` shows the start with newest, otherwise the last activity',
        )
          .choices(sessionOrders)
          .default('active'),
      )
      .option('--limit <n>', 'list only the first n', parseCount({ from: 1, example: 20 })),
    'ls',
    'ls --project devenv --sort cost --limit 10',
    'ls research/route-models --json',
    'ls --tasks --status open',
    'ls --pending',
    'ls --machine laptop',
  ).action((word: string | undefined, options: LsOptions) => {
    if (options.status !== undefined && options.tasks !== true)
      throw new CliError(exitCode.usage, '--status chooses tasks, and this lists sessions.', 'Add --tasks.');
    if (options.pending === true)
      return answerFromStore(context, options, (harness) => pendingAnswer(context, harness, word, options));
    return answerFromStore(context, options, (harness) =>
      options.tasks === true
        ? tasksAnswer(context, harness, word, options)
        : sessionsAnswer(context, harness, word, options),
    );
  });
};

async function sessionsAnswer(
  context: CliContext,
  harness: Harness,
  word: string | undefined,
  { project, machine, sort, limit }: LsOptions,
): Promise<Answer> {
  const { store } = harness;
  const listed = await listSessions(store, { word, project, machine, sort, limit });
  const { sessions, entries, taskDir, more } = listed;
  return {
    rows: sessions.map((one) => ({
      taskDir: one.taskDir,
      lastActiveAt: one.lastActiveAt,
      ...one.envelope,
      ...spendingOf(one.envelope),
    })),
    text:
      sessions.length > 0
        ? await sessionTable(context, store, sessions, sort)
        : machine === undefined
          ? nothing(harness, project)
          : `No session in ${storePlace(harness)} has its source on ${JSON.stringify(machine)}.`,
    notesAfter: [...moreThan(limit, more), ...goneFrom(sessions)],
    failure: unreadableSessions(entries, taskDir, 'listed'),
  };
}

/** The calls that wait, from the envelopes alone. */
async function pendingAnswer(
  context: CliContext,
  { store }: Harness,
  word: string | undefined,
  { project, sort }: LsOptions,
): Promise<Answer> {
  const { sessions, entries, taskDir } = await listSessions(store, { word, project, sort });
  const calls = sessions.flatMap((listed) =>
    (listed.envelope.pending ?? []).map((call) => ({ listed, call })),
  );
  const cells = (cell: (one: (typeof calls)[number]) => string | null) => calls.map((one) => cell(one) ?? '');
  const table = await listing(
    context,
    [
      { name: 'title', cells: cells(({ listed }) => titleCell(listed)), least: 20 },
      { name: 'call', cells: cells(({ call }) => call.toolCallId) },
      { name: 'tool', cells: cells(({ call }) => call.tool) },
      { name: 'kind', cells: cells(({ call }) => call.kind) },
      { name: 'agent', cells: cells(({ call }) => call.agentId ?? null) },
      {
        name: 'until',
        cells: cells(({ call }) => (call.deadline === undefined ? null : shownTime(context, call.deadline))),
      },
      { name: 'session', cells: shortIds(calls.map(({ listed }) => listed.envelope.dispatchId)) },
    ],
    ['title', 'agent'],
  );
  return {
    rows: calls.map(({ listed, call }) => ({
      taskDir: listed.taskDir,
      dispatchId: listed.envelope.dispatchId,
      ...call,
    })),
    text: calls.length === 0 ? 'No call waits for a person.' : table,
    failure: unreadableSessions(entries, taskDir, 'listed'),
  };
}

function nothing(harness: Harness, project: string | undefined, status?: string): string {
  const place = storePlace(harness);
  if (status !== undefined) return `No task in ${place} has the status ${JSON.stringify(status)}.`;
  if (project === undefined)
    return `No sessions yet in ${place}. \`hansard demo\` records some, \`hansard import PATH\` imports those of other tools.`;
  return `No project in ${place} contains ${JSON.stringify(project)}.`;
}

/** The sessions of which only the store has something. */
function goneFrom(sessions: readonly ListedDispatch[]): string[] {
  const gone = sessions.filter(({ envelope }) => envelope.source?.gone !== undefined);
  const subject = gone.length === 1 ? '1 of them is' : `${gone.length} of them are`;
  return gone.length === 0 ? [] : [`hansard: ${subject} gone from the source, and kept here only.`];
}

function moreThan(limit = 0, more: number | null = 0): string[] {
  if (more === null) return [`hansard: there are more; --limit ${limit * 10} lists up to that many.`];
  return more === 0 ? [] : [`hansard: ${more} more; --limit ${limit + more} lists all.`];
}

async function sessionTable(
  context: CliContext,
  store: DispatchStore,
  listings: readonly ListedDispatch[],
  sort: SessionOrder,
): Promise<string> {
  const timeOf = (listed: ListedDispatch) =>
    sort === 'newest' ? listed.envelope.startedAt : activeAt(listed);
  const statusOf = await shownStatuses(store, listings);
  const ids = shortIds(listings.map(({ envelope }) => envelope.dispatchId));
  const cells = (cell: (envelope: DispatchEnvelope, listed: ListedDispatch) => string | null) =>
    listings.map((listed) => cell(listed.envelope, listed) ?? '');
  const table = await listing(
    context,
    [
      { name: 'title', cells: cells((_, listed) => titleCell(listed)), least: 20 },
      {
        name: 'project',
        cells: cells((envelope, { taskDir }) => projectOf(taskDir, envelope)),
        least: 8,
        keep: 'end',
      },
      { name: 'when', cells: cells((_, listed) => ago(context, timeOf(listed))) },
      { name: 'cost', cells: cells((envelope) => formatSpending(spendingOf(envelope))) },
      { name: 'tokens', cells: cells(tokensInWords), least: 0 },
      {
        name: 'duration',
        cells: cells((envelope) => inWords(dispatchDuration(envelope), formatDuration)),
        least: 0,
      },
      { name: 'status', cells: cells(statusOf), least: 8 },
      { name: 'role', cells: cells(({ role }) => role), least: 0 },
      { name: 'id', cells: ids },
    ],
    ['role', 'project', 'title', 'status', 'duration', 'tokens'],
  );
  return withNote(
    table,
    listings.map(({ envelope }) => envelope),
  );
}

/** A worker is below its session. */
function titleCell(listed: ListedDispatch): string {
  return listed.envelope.parentDispatchId === null ? sessionTitle(listed) : `↳ ${sessionTitle(listed)}`;
}

function inWords(figure: number | null, format: (figure: number) => string): string | null {
  return figure === null ? null : format(figure);
}

async function tasksAnswer(
  context: CliContext,
  harness: Harness,
  word: string | undefined,
  { project, status, sort, limit }: LsOptions,
): Promise<Answer> {
  const { tasks, more } = await listTasks(harness.store, { word, project, status, sort, limit });
  return {
    rows: tasks.map(toJson),
    text: tasks.length === 0 ? nothing(harness, project, status) : await taskTable(context, tasks),
    notesAfter: moreThan(limit, more),
    failure: unreadableTasks(tasks, 'listed'),
  };
}

function toJson(listed: ListedTask): object {
  const { taskDir, task, errors } = listed;
  const reported = errors.map(({ code, message, details }) => ({ code, message, ...details }));
  return {
    taskDir,
    task,
    title: taskTitle(listed) || null,
    ...taskFigures(listed),
    lastActiveAt: listed.lastActiveAt,
    ...(reported.length === 0 ? {} : { errors: reported }),
  };
}

async function taskTable(context: CliContext, tasks: readonly ListedTask[]): Promise<string> {
  const cells = (cell: (listed: ListedTask) => string | null) => tasks.map((listed) => cell(listed) ?? '');
  const known = (cell: (listed: ListedTask) => string | null) =>
    cells((listed) => (listed.envelopes === null ? '?' : cell(listed)));
  const table = await listing(
    context,
    [
      { name: 'title', cells: cells((listed) => taskTitle(listed) || null), least: 20 },
      { name: 'task', cells: cells(({ taskDir }) => toTaskName(taskDir)), least: 24, keep: 'end' },
      {
        name: 'when',
        cells: known(({ lastActiveAt }) => (lastActiveAt === null ? null : ago(context, lastActiveAt))),
      },
      { name: 'cost', cells: known((listed) => formatSpending(taskFigures(listed))) },
      { name: 'sessions', cells: known(sessionsOf) },
      {
        name: 'status',
        cells: cells(({ task, errors }) => (errors.length === 0 ? (task?.status ?? null) : stateOf(errors))),
      },
    ],
    ['title', 'task'],
  );
  return withNote(
    table,
    tasks.flatMap(({ envelopes }) => envelopes ?? []),
  );
}

function sessionsOf(listed: ListedTask): string {
  const { dispatches, running } = taskFigures(listed);
  return running === 0 ? String(dispatches) : `${dispatches} (${running} running)`;
}

/** Says what estimated costs come from, where there are some. */
function withNote(table: string, envelopes: readonly DispatchEnvelope[]): string {
  const note = explainEstimates(envelopes);
  return note === null ? table : `${table}\n${neutraliseControlsInLine(note)}`;
}

function stateOf(errors: readonly StoreError[]): string {
  if (errors.some(({ code }) => code === 'STORE_CORRUPT')) return 'damaged';
  return errors.some(({ code }) => code === 'STORE_NEWER') ? 'of a newer version' : 'unreadable';
}

/** A column of a listing. */
interface Column {
  readonly name: string;
  readonly cells: readonly string[];
  /** How far it can be cut if the rows do not fit; 0: it can be left out. Absent: never. */
  readonly least?: number;
  /** Which part of a cell stays. Absent: its start. */
  readonly keep?: 'start' | 'end';
}

/** The columns of a line that is not written to a terminal. */
const usualWidth = 140;

/** The width of a listing: that of the terminal, also behind a pipe, or else a usual one. */
function listingWidth({ stdout, stderr, env }: CliContext): number {
  const widths = [
    stdout.isTTY ? stdout.columns : undefined,
    Number(env.COLUMNS),
    stderr.isTTY ? stderr.columns : undefined,
  ];
  return widths.find((width) => width !== undefined && width > 0) ?? usualWidth;
}

/**
 * A table whose first column says what a row is. A column with the same cell in every row is stated once, below it. `cut`: the names of
 * columns in the order in which they are cut to fit.
 */
async function listing(
  context: CliContext,
  columns: readonly Column[],
  cut: readonly string[],
): Promise<string> {
  const [first] = columns;
  const count = first?.cells.length ?? 0;
  const isEqual = ({ cells }: Column) => new Set(cells).size <= 1;
  const kept = columns.filter(
    (column) => column === first || (count === 1 ? column.cells[0] !== '' : !isEqual(column)),
  );
  const same = columns.filter((column) => !kept.includes(column) && (column.cells[0] ?? '') !== '');
  const table = await plainTable(
    kept.map(({ name }) => name),
    Array.from({ length: count }, (_, at) => kept.map(({ cells }) => cells[at] ?? '')),
    {
      width: listingWidth(context),
      cut: cut.flatMap((name) => {
        const { least, keep = 'start' } = columns.find((column) => column.name === name) ?? {};
        return least === undefined ? [] : [{ column: name, least, keep }];
      }),
    },
  );
  const words = same.map(({ name, cells }) => `${name} ${neutraliseControlsInLine(cells[0] ?? '')}`);
  const [head = ''] = table.split('\n');
  const hidden = kept.filter(({ name, cells }) => !head.includes(name) && cells.some((cell) => cell !== ''));
  return [
    table,
    ...(words.length === 0 ? [] : [`All: ${words.join(', ')}`]),
    ...(hidden.length === 0 ? [] : [`Hidden at this width: ${hidden.map(({ name }) => name).join(', ')}`]),
  ].join('\n');
}
