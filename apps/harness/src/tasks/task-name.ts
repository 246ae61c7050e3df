import { CliError, exitCode } from '../terminal/cli-error.ts';

/**
 * The `taskDir` that a task's name on the command line means: `PROJECT/SLUG` is short for `PROJECT/tasks/SLUG` (D10);
 * anything longer is the `taskDir` itself.
 */
export function toTaskDir(name: string): string {
  const parts = name.split('/');
  if (parts.length === 2 && parts.every((part) => part !== '')) return `${parts[0]}/tasks/${parts[1]}`;
  if (parts.length > 2) return name;
  throw new CliError(
    exitCode.usage,
    `${JSON.stringify(name)} does not name a task.`,
    'Name it as PROJECT/SLUG, such as research/route-models; `hansard ls` lists those that are there.',
  );
}

/** The short name of a `taskDir`, as it is typed and shown. */
export function toTaskName(taskDir: string): string {
  const [project, tasks, slug, ...rest] = taskDir.split('/');
  return tasks === 'tasks' && slug !== undefined && rest.length === 0 ? `${project}/${slug}` : taskDir;
}
