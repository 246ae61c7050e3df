import type { DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { harnessErrors } from '../harness-errors.ts';
import { listTasks } from '../sessions/list-sessions.ts';
import type { ListedTask } from '../sessions/listed-task.ts';
import { allSessions, onlySession, resolveScope } from '../sessions/resolve-session.ts';
import type { ExportFormat } from './export-formats.ts';

export interface ChosenTask {
  readonly taskDir: string;
  readonly envelopes: readonly DispatchEnvelope[];
}

export interface Chosen {
  readonly tasks: readonly ChosenTask[];
  /** All tasks that were asked for, also those that cannot be read; empty if a session or a task was named. */
  readonly listed: readonly ListedTask[];
}

export interface Choice {
  readonly as: string;
  /** What one word names. Absent: all tasks. */
  readonly session?: string;
  readonly project?: string;
}

/** The tasks and dispatches that a format is written of. @throws HARNESS_OPTION_INVALID, HARNESS_NOT_FOUND, HARNESS_AMBIGUOUS */
export async function chooseTasks(
  store: DispatchStore,
  { scope }: Pick<ExportFormat, 'scope'>,
  { as, session, project }: Choice,
): Promise<Chosen> {
  if (session === undefined && scope === 'store') return allTasks(store, project);
  if (session === undefined)
    throw harnessErrors.error(
      'HARNESS_OPTION_INVALID',
      `${as} is written of one ${scope === 'session' ? 'session' : 'task or session'}.`,
      { advice: 'Name it; `hansard ls` lists the sessions.' },
    );
  if (project !== undefined)
    throw harnessErrors.error('HARNESS_OPTION_INVALID', '--project chooses among all tasks.', {
      advice: 'Remove it, or the name of a session.',
    });
  const named = await resolveScope(store, session);
  const envelopes =
    named.dispatchId !== null || scope === 'session'
      ? [(await store.openDispatch(onlySession(named, session))).envelope]
      : allSessions(named);
  return { tasks: [{ taskDir: named.taskDir, envelopes }], listed: [] };
}

/** The tasks with dispatches, the most recently active one first. A damaged one hides no other. */
async function allTasks(store: DispatchStore, project = ''): Promise<Chosen> {
  const { tasks: listed } = await listTasks(store, { project, sort: 'active' });
  const tasks = listed.flatMap(({ taskDir, readable: envelopes }) =>
    envelopes.length === 0 ? [] : [{ taskDir, envelopes }],
  );
  if (tasks.length > 0) return { tasks, listed };
  const [unreadable] = listed.flatMap(({ errors }) => errors);
  throw (
    unreadable ??
    harnessErrors.error(
      'HARNESS_NOT_FOUND',
      project === '' ? 'There is no task yet.' : `No project contains ${JSON.stringify(project)}.`,
      { advice: '`hansard ls` lists the tasks.', details: { isPlace: true } },
    )
  );
}
