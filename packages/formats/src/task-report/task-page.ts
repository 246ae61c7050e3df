import type { DispatchEnvelope, TaskSource } from '@hansard/events';
import { agentLabel, dialogOf, type LogIndex, perspectiveOf, type SessionView } from '@hansard/views';
import { dispatchFacts } from './dispatch-facts.ts';
import { readDispatchReports } from './dispatch-report.ts';
import { escapeHtmlInLine, textBlock } from './html-text.ts';
import { policyHash } from './page/packed-rows.ts';
import { pageBar } from './page/page-bar.ts';
import { PageRows } from './page/page-rows.ts';
import { pageScript } from './page/page-script.ts';
import { dialogItem, perspectiveItem } from './page-rows.ts';
import { pageStyle } from './page-style.ts';
import { anchorOf, pageTree } from './page-tree.ts';
import type { ReportOptions } from './report-options.ts';
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
  const title = escapeHtmlInLine(taskTitle(source));
  const policy = [
    "default-src 'none'",
    `style-src ${await policyHash(pageStyle)}`,
    `script-src ${await policyHash(pageScript)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${pageStyle}</style>
</head>
<body>
<header><h1 dir="auto">${title}</h1>${pageBar}</header>
<main>
${pageTree(source)}`;
  const rows = new PageRows();
  for await (const report of readDispatchReports(source, options)) {
    const envelope = report.kind === 'whole' ? report.view.envelope : report.envelope;
    yield* head(envelope, report.kind === 'whole' ? report.view : null);
    if (report.kind === 'whole') yield* results(report.view);
    yield openLens('What happened', true, 'rows happened');
    yield* rows.write(envelope, report.kind === 'whole' ? report.index.events : report.events);
    yield closeLens;
    if (report.kind === 'whole') yield* lenses(report.view, report.index);
    yield '</section>\n';
  }
  yield `</main>\n<footer>Written by Hansard. Times are UTC.</footer>\n<script>${pageScript}</script>\n</body>\n</html>\n`;
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

function* results(view: SessionView): Generator<string> {
  if (view.result !== null) yield `<div class="result">${textBlock(view.result)}</div>\n`;
  if (view.structuredResult !== null)
    yield `<div class="result">${textBlock(JSON.stringify(view.structuredResult, null, 2), 'outcome')}</div>\n`;
}

function* lenses(view: SessionView, index: LogIndex): Generator<string> {
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
