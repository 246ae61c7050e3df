import { isInternalTask } from '@hansard/provider';
import { harnessErrors } from '../harness-errors.ts';

/**
 * The `taskDir` of a task name on the command line: `PROJECT/SLUG` is short for `PROJECT/tasks/SLUG` (D10); a longer name
 * is the `taskDir` itself.
 * @throws HARNESS_NAME_INVALID also for a task below `_hansard`
 */
export function toTaskDir(name: string): string {
  if (isInternalTask(name))
    throw harnessErrors.error(
      'HARNESS_NAME_INVALID',
      `${JSON.stringify(name)} belongs to Hansard, and has no sessions.`,
      {
        advice: 'Letters are part of the session that they were written to: name that session.',
      },
    );
  const parts = name.split('/');
  if (parts.length === 2 && parts.every((part) => part !== '')) return `${parts[0]}/tasks/${parts[1]}`;
  if (parts.length > 2) return name;
  throw harnessErrors.error('HARNESS_NAME_INVALID', `${JSON.stringify(name)} does not name a task.`, {
    advice: 'Name it as PROJECT/SLUG, such as research/route-models; `hansard ls` lists the tasks.',
  });
}

/** The short name of a `taskDir`, as users type it and commands print it. */
export function toTaskName(taskDir: string): string {
  const [project, tasks, slug, ...rest] = taskDir.split('/');
  return tasks === 'tasks' && slug !== undefined && rest.length === 0 ? `${project}/${slug}` : taskDir;
}
