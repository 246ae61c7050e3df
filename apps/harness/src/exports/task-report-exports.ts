import type { TaskSource } from '@hansard/events';
import { writeTaskMarkdown, writeTaskPage } from '@hansard/formats';
import type { TaskExport } from './task-export.ts';

/** A report of a task, written piece by piece. */
function taskReportExport(
  id: string,
  description: string,
  write: (source: TaskSource) => AsyncIterable<string>,
): TaskExport {
  return {
    id,
    description,
    scope: 'task',
    target: 'text',
    async write(source, { text }) {
      for await (const piece of write(source)) await text.write(piece);
      return { summary: { dispatches: source.envelopes.length }, notes: [] };
    },
  };
}

export const taskReportExports: readonly TaskExport[] = [
  taskReportExport(
    'markdown',
    'a report of a task: tree, cost, dialog, the view of each agent',
    writeTaskMarkdown,
  ),
  taskReportExport('html', 'the same report as one HTML page with find and filters', writeTaskPage),
];
