import type { DispatchEnvelope, TaskSource } from '@hansard/events';
import { agentLabel, dialogOf, type LogIndex, perspectiveOf, type SessionView } from '@hansard/views';
import { dispatchFacts } from './dispatch-facts.ts';
import { readDispatchReports } from './dispatch-report.ts';
import { escapeHtmlInLine, textBlock } from './html-text.ts';
import { dialogItem, lineItem, perspectiveItem, sessionItem } from './page-rows.ts';
import { pageStyle } from './page-style.ts';
import { anchorOf, pageTree } from './page-tree.ts';
import type { ReportOptions } from './report-options.ts';
import { taskTitle } from './task-title.ts';

/**
 * A task as one HTML file, in pieces: the tree with costs, then each dispatch with its facts, result, events, dialog and
 * the view of each agent. The page has no script and loads nothing, and its content security policy forbids both. Text
 * of agents is never markup.
 */
export async function* writeTaskPage(
  source: TaskSource,
  options: ReportOptions = {},
): AsyncGenerator<string> {
  const title = escapeHtmlInLine(taskTitle(source));
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1 dir="auto">${title}</h1>
${pageTree(source)}`;
  for await (const report of readDispatchReports(source, options)) {
    if (report.kind === 'whole') {
      yield* head(report.view.envelope, report.view);
      yield* wholeDispatch(report.view, report.index);
    } else {
      yield* head(report.envelope, null);
      yield openLens('What happened, one line for each event', true, 'rows');
      for await (const line of report.lines) yield `${lineItem(line)}\n`;
      yield closeLens;
    }
    yield '</section>\n';
  }
  yield '</main>\n<footer>Written by Hansard. Times are UTC.</footer>\n</body>\n</html>\n';
}

function* head(envelope: DispatchEnvelope, view: SessionView | null): Generator<string> {
  const facts = dispatchFacts(envelope, view).map(
    ([name, value]) => `<dt>${name}</dt><dd>${escapeHtmlInLine(value)}</dd>`,
  );
  yield `<section id="${anchorOf(envelope.dispatchId)}">
<h2 dir="auto">${escapeHtmlInLine(envelope.role)}</h2>
<dl class="facts">${facts.join('')}</dl>
`;
}

function* wholeDispatch(view: SessionView, index: LogIndex): Generator<string> {
  if (view.result !== null) yield `<div class="result">${textBlock(view.result)}</div>\n`;
  if (view.structuredResult !== null)
    yield `<div class="result">${textBlock(JSON.stringify(view.structuredResult, null, 2), 'outcome')}</div>\n`;
  yield openLens('What happened', true, 'rows');
  for (const row of view.rows) yield `${sessionItem(index, row)}\n`;
  yield closeLens;
  const dialog = dialogOf(index);
  if (dialog.length > 0) {
    yield openLens('Who said what', false, 'rows said');
    for (const row of dialog) yield `${dialogItem(index, row)}\n`;
    yield closeLens;
  }
  for (const { agentId } of index.agents.values()) {
    const rows = perspectiveOf(index, agentId);
    if (rows.length === 0) continue;
    const name = escapeHtmlInLine(agentId === '' ? view.envelope.role : agentLabel(index, agentId));
    yield openLens(`What <bdi>${name}</bdi> saw`, false, 'rows said');
    for (const row of rows) yield `${perspectiveItem(index, row)}\n`;
    yield closeLens;
  }
}

/** `title` is HTML already. */
function openLens(title: string, isOpen: boolean, className: string): string {
  return `<details class="lens"${isOpen ? ' open' : ''}><summary>${title}</summary>\n<ol class="${className}">\n`;
}

const closeLens = '</ol></details>\n';
