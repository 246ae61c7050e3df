import type { TaskSource } from '@hansard/events';
import { writeTaskMarkdown, writeTaskPage } from '@hansard/formats';
import type { TaskExport } from './task-export.ts';

/** A task for people to read, written piece by piece. */
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
    'a task to read: tree and cost, dialog, what each agent saw',
    writeTaskMarkdown,
  ),
  taskReportExport('html', 'the same as one HTML page that loads nothing', writeTaskPage),
];
