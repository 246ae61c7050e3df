import {
  agentLabel,
  type DialogRow,
  dialogOf,
  dialogWords,
  type LogIndex,
  messageFlow,
  type PerspectiveRow,
  perspectiveOf,
  perspectiveWords,
  type SessionFacts,
  spanText,
} from '@hansard/views';
import { dispatchFacts } from '../dispatch-facts.ts';
import { type DispatchReport, envelopeOf } from '../dispatch-report.ts';
import { escapeHtmlInLine, textBlock } from '../html-text.ts';
import { anchorOf } from '../page-tree.ts';
import { noteHtml } from './block-html.ts';
import { flowDiagram } from './flow-diagram.ts';

/** A dispatch on a page up to its rows: facts and result. */
export function* sectionStart(report: DispatchReport): Generator<string> {
  const envelope = envelopeOf(report);
  const session = report.kind === 'whole' ? report.facts : null;
  const facts = dispatchFacts(envelope, session).map(
    ([name, value]) => `<dt>${name}</dt><dd>${escapeHtmlInLine(value)}</dd>`,
  );
  yield `<section id="${anchorOf(envelope.dispatchId)}">
<h2 dir="auto">${escapeHtmlInLine(envelope.role)}</h2>
<dl class="facts">${facts.join('')}</dl>
`;
  if (session !== null) yield* results(session);
}

/** The rows of a dispatch, which are items, as a list that is open. */
export async function* rowList(items: AsyncIterable<string>): AsyncGenerator<string> {
  yield openLens('What happened', true, 'rows happened');
  yield* items;
  yield closeLens;
}

/** The rest of a dispatch: of a whole one, the flow of messages, the dialog and the view of each agent. `scope` begins its anchors. */
export function* sectionEnd(report: DispatchReport, scope: string): Generator<string> {
  if (report.kind === 'whole') yield* lenses(report.facts, report.index, scope);
  yield '</section>\n';
}

function* results(session: SessionFacts): Generator<string> {
  if (session.result !== null) yield `<div class="result">${textBlock(session.result)}</div>\n`;
  if (session.structuredResult !== null)
    yield `<div class="result">${textBlock(JSON.stringify(session.structuredResult, null, 2), 'outcome')}</div>\n`;
}

function* lenses(session: SessionFacts, index: LogIndex, scope: string): Generator<string> {
  const flow = messageFlow(index);
  if (flow.steps.length > 0) {
    yield '<details class="lens"><summary>How messages flowed</summary>\n';
    yield* flowDiagram(flow, scope);
    yield '</details>\n';
  }
  const dialog = dialogOf(index);
  if (dialog.length > 0) {
    yield openLens('Who said what', false, 'rows said');
    for (const row of dialog) yield `${dialogItem(index, row)}\n`;
    yield closeLens;
  }
  for (const { agentId } of index.agents.values()) {
    const rows = perspectiveOf(index, agentId);
    if (rows.length === 0) continue;
    const name = escapeHtmlInLine(agentId === '' ? session.envelope.role : agentLabel(index, agentId));
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

/** One utterance and its receivers. */
function dialogItem(index: LogIndex, row: DialogRow): string {
  const words = dialogWords(index, row);
  const blocks = words.blocks.map((block) => {
    if (block.kind === 'text') return textBlock(block.text);
    return block.kind === 'note' ? noteHtml(block, block.tone === 'notice' ? 'notice' : 'heard') : '';
  });
  const speaker = escapeHtmlInLine(spanText(words, 'agent'));
  return `<li><span class="who" dir="auto">${speaker}</span><div>${blocks.join('')}</div></li>`;
}

/** One thing that an agent heard, thought, did, received or said. */
function perspectiveItem(index: LogIndex, row: PerspectiveRow): string {
  const words = perspectiveWords(index, row);
  const about = escapeHtmlInLine(spanText(words, 'head'));
  const head = about === '' ? '' : `<div class="heard">${about}</div>`;
  return `<li><span class="kind">${spanText(words, 'word')}</span><div>${head}${textBlock(row.text)}</div></li>`;
}
