import type { TaskSource } from '@hansard/events';

/** The title of a task in a report: its name, else `PROJECT/SLUG`. */
export function taskTitle({ task, taskDir }: TaskSource): string {
  return task?.name || taskDir.replace(/\/tasks\/(?=[^/]+$)/, '/');
}
