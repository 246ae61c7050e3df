import { allSessions, findScope, listAllTasks, onlySession, projectOf, sortTasks } from '@hansard/compose';
import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { unreadableTasks } from '../tasks/unreadable.ts';
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
  /** Absent: all tasks. */
  readonly word: string | undefined;
  readonly project?: string;
}

/** The tasks and dispatches that a format is written of. @throws CliError */
export async function chooseTasks(
  store: DispatchStore,
  { id, scope }: TaskExport | StoreExport,
  { word, project }: Choice,
): Promise<Chosen> {
  if (word === undefined && scope === 'store') return allTasks(store, project);
  if (word === undefined)
    throw new CliError(
      exitCode.usage,
      `${id} is written of one ${scope === 'latest' ? 'session' : 'task or session'}.`,
      'Name it; `hansard ls` lists the sessions.',
    );
  if (project !== undefined)
    throw new CliError(
      exitCode.usage,
      '--project chooses among all tasks.',
      'Remove it, or the name of a session.',
    );
  const named = await findScope(store, word);
  const { taskDir } = named;
  const envelopes =
    named.dispatchId !== null || scope === 'latest'
      ? [(await store.openDispatch(onlySession(named, word))).envelope]
      : allSessions(named);
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
