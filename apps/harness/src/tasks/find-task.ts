import type { DispatchStore } from '@hansard/dispatch';
import { findNamed } from '@hansard/facts';
import { CliError, exitCode } from '../terminal/cli-error.ts';
import { listChoices } from '../terminal/list-choices.ts';
import { toTaskDir, toTaskName } from './task-name.ts';

/**
 * The `taskDir` of the task that a text names: see `taskHelp`. A text with a slash is a whole name, and needs no call of the store.
 * @throws CliError for another text that names no task, or several; then it lists the choices
 */
export async function findTask(store: DispatchStore, wanted: string): Promise<string> {
  if (wanted.includes('/')) return toTaskDir(wanted);
  if (wanted === 'latest') return latestTask(store);
  const tasks = await store.listTasks();
  const answer = findNamed(tasks, wanted, ({ taskDir, task }) => ({
    id: toTaskName(taskDir),
    names: [task?.slug ?? null, task?.name ?? null],
  }));
  if (answer.kind === 'found') return answer.item.taskDir;
  if (answer.kind === 'ambiguous') {
    const lines = answer.items.map(({ taskDir, task }) =>
      [toTaskName(taskDir), task?.name ?? ''].filter(Boolean).join('  '),
    );
    throw new CliError(
      exitCode.failed,
      `${wanted} fits ${answer.items.length} tasks:${listChoices(lines)}`,
      'Name one as PROJECT/SLUG.',
    );
  }
  throw new CliError(
    exitCode.failed,
    `There is no task ${JSON.stringify(wanted)}.`,
    'Name it as PROJECT/SLUG, such as research/route-models; `hansard ls` lists the tasks.',
    { isMissing: true },
  );
}

/** The task of the dispatch that began last. */
async function latestTask(store: DispatchStore): Promise<string> {
  for await (const { taskDir, envelope, error } of store.dispatches({ order: 'newest', limit: 1 })) {
    if (envelope === null) throw error;
    return taskDir;
  }
  throw new CliError(exitCode.failed, 'There is no task yet.', '`hansard demo` records one.', {
    isMissing: true,
  });
}
