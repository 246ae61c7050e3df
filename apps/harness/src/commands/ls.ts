import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { neutraliseControlsInLine } from '@hansard/events/plain';
import { explainEstimates, formatSpending, spendingOf } from '@hansard/facts';
import type { StoreError } from '@hansard/provider';
import { Option } from 'commander';
import { storePlace } from '../store-place.ts';
import { findReadable } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import {
  type ListedTask,
  listAllTasks,
  sortTasks,
  type TaskOrder,
  taskFigures,
  taskOrders,
  titleOf,
} from '../tasks/listed-task.ts';
import { type ShownStatus, shownStatus } from '../tasks/shown-status.ts';
import { projectOf, toTaskName } from '../tasks/task-name.ts';
import { unreadableTasks } from '../tasks/unreadable-tasks.ts';
import type { Answer } from '../terminal/answer.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { parseCount } from '../terminal/parse-count.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { shownTime } from '../terminal/shown-time.ts';
import { answerFromStore } from '../terminal/with-store.ts';

/** How many of the last characters of a dispatch's id are printed if the whole id does not fit. */
const leastOfId = 9;

interface LsOptions extends CommonOptions {
  readonly project?: string;
  readonly sort: TaskOrder;
  readonly limit?: number;
}

export const addLs: AddCommand = (command, context) => {
  withCommonOptions(command)
    .option('--project <text>', 'list only the tasks whose project contains this text, ignoring case')
    .addOption(
      new Option('--sort <order>', 'the order of tasks; by their last event, unless you choose another one')
        .choices(taskOrders)
        .default('active'),
    )
    .option(
      '--limit <n>',
      'list only the first n tasks, or the n dispatches that began last',
      parseCount({ from: 1, example: 20 }),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  hansard ls\n  hansard ls --project devenv --sort cost --limit 10\n  hansard ls research/route-models\n  hansard ls research/route-models --json',
    )
    .action((task: string | undefined, options: LsOptions) =>
      answerFromStore(context, options, async (harness) => {
        const { store } = harness;
        return task === undefined
          ? await tasksAnswer(context, await listAllTasks(store), storePlace(harness), options)
          : await dispatchesAnswer(context, store, await findTask(store, task), options);
      }),
    );
};

async function tasksAnswer(
  context: CliContext,
  all: readonly ListedTask[],
  place: string,
  { project, sort, limit = all.length }: LsOptions,
): Promise<Answer> {
  const wanted = project?.toLowerCase();
  const ofProject = all.filter(
    ({ taskDir }) => wanted === undefined || projectOf(taskDir).toLowerCase().includes(wanted),
  );
  const tasks = sortTasks(ofProject, sort).slice(0, limit);
  return {
    rows: tasks.map(toJson),
    text: tasks.length === 0 ? noTasks(all, place, project) : await taskTable(context, tasks),
    notesAfter: moreThan(limit, ofProject.length, 'tasks'),
    failure: unreadableTasks(tasks, 'listed'),
  };
}

function noTasks(all: readonly ListedTask[], place: string, project: string | undefined): string {
  if (all.length === 0) return `No tasks yet in ${place}. \`hansard demo\` records one.`;
  return `No project of the ${all.length} tasks in ${place} contains ${JSON.stringify(project)}.`;
}

function moreThan(limit: number, count: number, what: string): string[] {
  return count <= limit ? [] : [`hansard: ${count - limit} more ${what}; --limit ${count} lists all.`];
}

async function dispatchesAnswer(
  context: CliContext,
  store: DispatchStore,
  taskDir: string,
  { limit }: LsOptions,
): Promise<Answer> {
  const { envelopes: all, failure } = await findReadable(store, taskDir);
  const envelopes = limit === undefined ? all : all.slice(-limit);
  const statusOf = await shownStatus(store, taskDir, envelopes);
  return {
    rows: envelopes,
    text: await dispatchTable(context, envelopes, statusOf),
    notesAfter: moreThan(envelopes.length, all.length, 'dispatches'),
    failure,
  };
}

function toJson(listed: ListedTask): object {
  const { taskDir, task, errors } = listed;
  const reported = errors.map(({ code, message, details }) => ({ code, message, ...details }));
  return {
    taskDir,
    task,
    title: titleOf(listed) || null,
    ...taskFigures(listed),
    lastActiveAt: listed.lastActiveAt,
    ...(reported.length === 0 ? {} : { errors: reported }),
  };
}

async function taskTable(context: CliContext, tasks: readonly ListedTask[]): Promise<string> {
  const width = terminalWidth(context);
  const rows = tasks.map((listed) => {
    const { taskDir, task, errors } = listed;
    const status = errors.length === 0 ? (task?.status ?? '') : stateOf(errors);
    return [toTaskName(taskDir), status, ...figuresOf(context, listed), titleOf(listed)];
  });
  const head = ['task', 'status', 'dispatches', 'cost', 'last active', 'title'];
  const table = await plainTable(head, rows, { width, cut: [{ column: 'title', least: 0 }] });
  return withNote(
    table,
    tasks.flatMap(({ envelopes }) => envelopes ?? []),
  );
}

function figuresOf(context: CliContext, listed: ListedTask): string[] {
  const width = terminalWidth(context);
  const figures = taskFigures(listed);
  const { dispatches, running } = figures;
  if (listed.envelopes === null) return ['?', '?', '?'];
  return [
    running === 0 ? String(dispatches) : `${dispatches} (${running} running)`,
    formatSpending(figures) ?? '',
    listed.lastActiveAt === null ? '' : timeOf(shownTime(context, listed.lastActiveAt), width),
  ];
}

/** Says what estimated costs come from, where there are some. */
function withNote(table: string, envelopes: readonly DispatchEnvelope[]): string {
  const note = explainEstimates(envelopes);
  return note === null ? table : `${table}\n${neutraliseControlsInLine(note)}`;
}

async function dispatchTable(
  context: CliContext,
  envelopes: readonly DispatchEnvelope[],
  statusOf: ShownStatus,
): Promise<string> {
  const width = terminalWidth(context);
  const rows = envelopes.map((envelope) => {
    const { dispatchId, role, title, model, startedAt, parentDispatchId } = envelope;
    return [
      dispatchId,
      role,
      statusOf(envelope),
      model ?? '',
      formatSpending(spendingOf(envelope)) ?? '',
      timeOf(shownTime(context, startedAt), width),
      parentDispatchId ?? '',
      title ?? '',
    ];
  });
  const head = ['dispatch', 'role', 'status', 'model', 'cost', 'started', 'parent', 'title'];
  const table = await plainTable(head, rows, {
    width,
    cut: [
      { column: 'title', least: 0 },
      { column: 'parent', least: leastOfId, keep: 'end' },
      { column: 'dispatch', least: leastOfId, keep: 'end' },
      { column: 'model', least: 8 },
      { column: 'role', least: 8 },
      { column: 'status', least: 8 },
    ],
  });
  return withNote(table, envelopes);
}

/** The recorded time; on a terminal to the minute, also in UTC. */
function timeOf(timestamp: string, width: number | undefined): string {
  return width === undefined ? timestamp : `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)}`;
}

function stateOf(errors: readonly StoreError[]): string {
  return errors.some(({ code }) => code === 'STORE_CORRUPT') ? 'damaged' : 'unreadable';
}
