import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import type { StoreError, TaskListing } from '@hansard/provider';
import {
  explainEstimates,
  formatSpending,
  neutraliseControlsInLine,
  spendingOf,
} from '@hansard/views/basics';
import { storePlace } from '../store-place.ts';
import { findReadable } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { type ListedTask, listAllTasks, taskFigures } from '../tasks/listed-task.ts';
import { type ShownStatus, shownStatus } from '../tasks/shown-status.ts';
import { toTaskName } from '../tasks/task-name.ts';
import type { Answer } from '../terminal/answer.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { type AddCommand, type CommonOptions, withCommonOptions } from '../terminal/command.ts';
import { type CliContext, terminalWidth } from '../terminal/context.ts';
import { explainError } from '../terminal/explain-error.ts';
import { plainTable } from '../terminal/plain-table.ts';
import { answerFromStore } from '../terminal/with-store.ts';

/** How many of the last characters of a dispatch's id are printed if the whole id does not fit. */
const leastOfId = 9;

export const addLs: AddCommand = (command, context) => {
  withCommonOptions(command)
    .addHelpText(
      'after',
      '\nExamples:\n  hansard ls\n  hansard ls research/route-models\n  hansard ls research/route-models --json',
    )
    .action((task: string | undefined, options: CommonOptions) =>
      answerFromStore(context, options, async (harness) => {
        const { store } = harness;
        return task === undefined
          ? await tasksAnswer(context, await listAllTasks(store), storePlace(harness))
          : await dispatchesAnswer(context, store, await findTask(store, task));
      }),
    );
};

async function tasksAnswer(
  context: CliContext,
  tasks: readonly ListedTask[],
  place: string,
): Promise<Answer> {
  return {
    rows: tasks.map(toJson),
    text:
      tasks.length === 0
        ? `No tasks yet in ${place}. \`hansard demo\` records one.`
        : await taskTable(context, tasks),
    failure: unreadableTasks(tasks),
  };
}

async function dispatchesAnswer(context: CliContext, store: DispatchStore, taskDir: string): Promise<Answer> {
  const { envelopes, failure } = await findReadable(store, taskDir);
  const statusOf = await shownStatus(store, taskDir, envelopes);
  return { rows: envelopes, text: await dispatchTable(context, envelopes, statusOf), failure };
}

function toJson(listed: ListedTask): object {
  const { taskDir, task, errors } = listed;
  const reported = errors.map(({ code, message, details }) => ({ code, message, ...details }));
  return { taskDir, task, ...taskFigures(listed), ...(reported.length === 0 ? {} : { errors: reported }) };
}

async function taskTable(context: CliContext, tasks: readonly ListedTask[]): Promise<string> {
  const width = terminalWidth(context);
  const rows = tasks.map((listed) => {
    const { taskDir, task, errors } = listed;
    const status = errors.length === 0 ? (task?.status ?? '') : stateOf(errors);
    return [toTaskName(taskDir), status, ...figuresOf(listed, width), nameOf(listed, width)];
  });
  const head = ['task', 'status', 'dispatches', 'cost', 'last started', 'name'];
  const table = await plainTable(head, rows, { width, cut: [{ column: 'name', least: 0 }] });
  return withNote(
    table,
    tasks.flatMap(({ envelopes }) => envelopes ?? []),
  );
}

function figuresOf(listed: ListedTask, width: number | undefined): string[] {
  const figures = taskFigures(listed);
  const { dispatches, running, lastStartedAt } = figures;
  if (listed.envelopes === null) return ['?', '?', '?'];
  return [
    running === 0 ? String(dispatches) : `${dispatches} (${running} running)`,
    formatSpending(figures) ?? '',
    lastStartedAt === null ? '' : timeOf(lastStartedAt, width),
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
    const { dispatchId, role, model, startedAt, parentDispatchId } = envelope;
    return [
      dispatchId,
      role,
      statusOf(envelope),
      model ?? '',
      formatSpending(spendingOf(envelope)) ?? '',
      timeOf(startedAt, width),
      parentDispatchId ?? '',
    ];
  });
  const head = ['dispatch', 'role', 'status', 'model', 'cost', 'started', 'parent'];
  const table = await plainTable(head, rows, {
    width,
    cut: [
      { column: 'parent', least: leastOfId, keep: 'end' },
      { column: 'dispatch', least: leastOfId, keep: 'end' },
      { column: 'model', least: 8 },
      { column: 'role', least: 8 },
      { column: 'status', least: 8 },
    ],
  });
  return withNote(table, envelopes);
}

/** A terminal shows the name only if it differs from the slug. */
function nameOf({ taskDir, task }: TaskListing, width: number | undefined): string {
  const name = task?.name ?? '';
  return width !== undefined && taskDir.endsWith(`/${name}`) ? '' : name;
}

/** The recorded time; on a terminal to the minute, also in UTC. */
function timeOf(timestamp: string, width: number | undefined): string {
  return width === undefined ? timestamp : `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)}`;
}

function stateOf(errors: readonly StoreError[]): string {
  return errors.some(({ code }) => code === 'STORE_CORRUPT') ? 'damaged' : 'unreadable';
}

/** The error that reports each unreadable task with its place; null if all tasks are readable. */
function unreadableTasks(tasks: readonly ListedTask[]): CliError | null {
  const problems = tasks.flatMap(({ taskDir, errors }) =>
    errors.map((error) => ({ name: toTaskName(taskDir), ...explainError(error) })),
  );
  const [first] = problems;
  if (first === undefined) return null;
  const worst = problems.find((one) => one.exitCode === exitCode.damaged) ?? first;
  const bad = tasks.filter(({ errors }) => errors.length > 0);
  const count = `${bad.length} of ${tasks.length} tasks can't be read completely; the others are listed.`;
  const lines = problems.map(({ name, message }) => `${name}: ${message}`);
  // The wrong path is in the store, not in the arguments.
  const [code, advice] =
    worst.exitCode === exitCode.usage
      ? [exitCode.failed, 'Remove the link that points outside the folder of the store.']
      : [worst.exitCode, worst.advice];
  return new CliError(code, [count, ...lines].join('\n  '), advice);
}
