import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { findDispatch, findDispatches } from '../tasks/find-dispatch.ts';
import { findTask } from '../tasks/find-task.ts';
import { listAllTasks, sortTasks } from '../tasks/listed-task.ts';
import { projectOf } from '../tasks/task-name.ts';
import { unreadableTasks } from '../tasks/unreadable-tasks.ts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import type { StoreExport, TaskExport } from './task-export.ts';

export interface ChosenTask {
  readonly taskDir: string;
  readonly envelopes: readonly DispatchEnvelope[];
}

export interface Chosen {
  readonly tasks: readonly ChosenTask[];
  /** Why tasks are left out. */
  readonly failure: CliError | null;
}

export interface Choice {
  readonly task: string | undefined;
  readonly dispatch: string | undefined;
  readonly project?: string;
}

/** The tasks and dispatches that a format is written of. @throws CliError */
export async function chooseTasks(
  store: DispatchStore,
  { id, scope }: TaskExport | StoreExport,
  { task, dispatch, project }: Choice,
): Promise<Chosen> {
  if (task === undefined && scope === 'store') return allTasks(store, project);
  if (task === undefined)
    throw new CliError(
      exitCode.usage,
      `${id} is written of one task.`,
      'Name it as PROJECT/SLUG; `hansard ls` lists the tasks.',
    );
  if (project !== undefined)
    throw new CliError(exitCode.usage, '--project chooses among all tasks.', 'Remove it, or the task.');
  const taskDir = await findTask(store, task);
  const envelopes =
    dispatch !== undefined || scope === 'latest'
      ? [(await findDispatch(store, taskDir, dispatch ?? 'latest')).envelope]
      : await findDispatches(store, taskDir);
  return { tasks: [{ taskDir, envelopes }], failure: null };
}

/** The tasks with dispatches, the most recently active one first. A damaged one hides no other. */
async function allTasks(store: DispatchStore, project = ''): Promise<Chosen> {
  const wanted = project.toLowerCase();
  const listed = sortTasks(await listAllTasks(store), 'active').filter(({ taskDir }) =>
    projectOf(taskDir).toLowerCase().includes(wanted),
  );
  const tasks = listed.flatMap(({ taskDir, readable: envelopes }) =>
    envelopes.length === 0 ? [] : [{ taskDir, envelopes }],
  );
  const failure = unreadableTasks(listed, 'exported');
  if (tasks.length > 0) return { tasks, failure };
  throw (
    failure ??
    new CliError(
      exitCode.failed,
      project === '' ? 'There is no task yet.' : `No project contains ${JSON.stringify(project)}.`,
      '`hansard ls` lists the tasks.',
      { isMissing: true },
    )
  );
}
