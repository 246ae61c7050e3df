import type { ReportSource } from './report-source.ts';

/** The title of a task in a report: its name, else `PROJECT/SLUG`. */
export function taskTitle({ task, taskDir }: ReportSource): string {
  return task?.name || taskDir.replace(/\/tasks\/(?=[^/]+$)/, '/');
}
