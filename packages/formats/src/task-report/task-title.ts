import type { ReportSource } from './report-source.ts';

/** What to call a task at the head of a report: its name, else `PROJECT/SLUG`. */
export function taskTitle({ task, taskDir }: ReportSource): string {
  return task?.name || taskDir.replace(/\/tasks\/(?=[^/]+$)/, '/');
}
