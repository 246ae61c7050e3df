import type { TaskSource } from '@hansard/events';
import { writeTaskMarkdown, writeTaskPage, writeTaskPages } from '@hansard/pages';
import { Option } from 'commander';
import type { StoreExport, TaskExport } from './task-export.ts';

/** A page with more events is slow to open. */
const mostOnPage = 100_000;

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
      const counted = countEvents(source);
      for await (const piece of write(counted.source)) await text.write(piece);
      const isLong = id === 'html' && counted.events() > mostOnPage;
      const events = counted.events().toLocaleString('en');
      const advice = `${events} events are on one page, which is slow to open. \`--as pages --out FOLDER\` writes several files with an index.`;
      return { summary: { dispatches: source.envelopes.length }, notes: isLong ? [advice] : [] };
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

/** A source, and how many of its events were read. */
function countEvents(source: TaskSource): { readonly source: TaskSource; events(): number } {
  let events = 0;
  async function* readEvents(dispatchId: string) {
    for await (const event of source.readEvents(dispatchId)) {
      events += 1;
      yield event;
    }
  }
  return { source: { ...source, readEvents }, events: () => events };
}

export const pagesExport: StoreExport = {
  id: 'pages',
  description: 'HTML pages of all tasks or of one, with an index',
  scope: 'store',
  target: 'folder',
  options: [
    new Option(
      '--project <text>',
      'without a task: only tasks whose project contains this text, ignoring case',
    ),
  ],
  async write(sources, target) {
    return { summary: { ...(await writeTaskPages(sources, target.file)) }, notes: [] };
  },
};
