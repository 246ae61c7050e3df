import type { TaskSource } from '@hansard/events';

/** What to call a task at the head of a report: its name, else `PROJECT/SLUG`. */
export function taskTitle({ task, taskDir }: TaskSource): string {
  return task?.name || taskDir.replace(/\/tasks\/(?=[^/]+$)/, '/');
}
