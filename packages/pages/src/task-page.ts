import type { TaskSource } from '@hansard/events';
import { envelopeOf, eventsOf, readDispatchReports } from './dispatch-report.ts';
import { rowList, sectionEnd, sectionStart } from './page/dispatch-section.ts';
import { pageBar } from './page/page-bar.ts';
import { PageRows } from './page/page-rows.ts';
import { pageScript } from './page/page-script.ts';
import { pageEnd, pageStart } from './page/page-shell.ts';
import { anchorOf, pageTree } from './page-tree.ts';
import type { ReportOptions } from './report-options.ts';
import { settlingRows } from './settling-rows.ts';
import { taskTitle } from './task-title.ts';

/**
 * A task as one HTML file, in pieces: the tree with costs, then each dispatch with its facts, result, rows, dialog and
 * the view of each agent. Text of agents is never markup, except for Markdown from an allow-list. The page loads nothing, and its content
 * security policy allows one script, by its hash. Without it the first 2,000 rows are shown; it unfolds the others, which are compressed.
 */
export async function* writeTaskPage(
  source: TaskSource,
  options: ReportOptions = {},
): AsyncGenerator<string> {
  yield await pageStart({ title: taskTitle(source), bar: pageBar, script: pageScript });
  yield pageTree(source, ({ dispatchId }) => [`#${anchorOf(dispatchId)}`]);
  const rows = new PageRows();
  let dispatches = 0;
  for await (const report of readDispatchReports(source, options)) {
    dispatches += 1;
    yield* sectionStart(report);
    yield* rowList(
      rows.items(
        settlingRows(envelopeOf(report), eventsOf(report)),
        `d${dispatches}`,
        envelopeOf(report).role,
      ),
    );
    yield* sectionEnd(report, `d${dispatches}`);
  }
  yield pageEnd(pageScript);
}
