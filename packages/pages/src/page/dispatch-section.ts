import {
  agentLabel,
  type DialogRow,
  dialogOf,
  dialogWords,
  fitColumns,
  type LogIndex,
  type MessageFlow,
  messageFlow,
  type PerspectiveRow,
  perspectiveOf,
  perspectiveWords,
  type SessionFacts,
  spanText,
} from '@hansard/views';
import { type DispatchReport, dispatchFacts, envelopeOf } from '../dispatch-report.ts';
import { escapeHtmlInLine, textBlock } from '../html-text.ts';
import { anchorOf } from '../page-tree.ts';
import { colourOf, noteHtml } from './page-rows.ts';

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

/** Pixels. */
const lane = 110;
const line = 26;
const head = 30;
const left = 46;
const textWidth = 520;
const mostOfText = 70;
const mostOfLabel = 14;

const classes = { same: 'heard', wrapped: 'heard', altered: 'other', withheld: 'stopped' } as const;

/**
 * The flow of messages as a drawing: a lane for each speaker and hearer, and a line for each saying, which leads to its row.
 * `scope` begins the anchors of the dispatch.
 */
function* flowDiagram({ lanes, steps }: MessageFlow, scope: string): Generator<string> {
  const height = head + steps.length * line + 10;
  const width = left + lanes.length * lane + textWidth;
  const colour = (at: number) => {
    const agentId = lanes[at]?.agentId;
    return agentId == null ? '' : ` a${colourOf(agentId)}`;
  };
  const xOf = (at: number) => left + at * lane + lane / 2;
  yield `<div class="scroll"><svg class="flow" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Who said what to whom">\n`;
  for (const [at, { label }] of lanes.entries()) {
    yield `<text class="lane${colour(at)}" x="${xOf(at)}" y="18">${drawn(label, mostOfLabel)}</text><path class="rail" d="M${xOf(at)} ${head - 4}V${height}"/>\n`;
  }
  for (const [at, { position, from, to, notKnown, text }] of steps.entries()) {
    const y = head + at * line + line / 2;
    const arrows = to
      .filter((one) => one.lane !== from)
      .map(({ lane: end, how }) => {
        const x = xOf(end);
        const side = x > xOf(from) ? -1 : 1;
        const tip =
          how === 'withheld'
            ? `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`
            : `M${x + side * 7} ${y - 4}L${x} ${y}l${side * 7} 4`;
        return `<path class="${classes[how]}" d="M${xOf(from)} ${y}H${x}${tip}"><title>${how}</title></path>`;
      });
    const unknown = notKnown.map((end) => `<text class="unknown" x="${xOf(end)}" y="${y + 4}">?</text>`);
    const link = `<a href="#${scope}-${position}"><text class="place" x="${left - 8}" y="${y + 4}">${position}</text></a>`;
    yield `<g>${link}${arrows.join('')}<circle class="said${colour(from)}" cx="${xOf(from)}" cy="${y}" r="4"/>${unknown.join('')}<text x="${left + lanes.length * lane + 8}" y="${y + 4}">${drawn(text, mostOfText)}</text></g>\n`;
  }
  yield '</svg></div>\n';
}

function drawn(text: string, most: number): string {
  return escapeHtmlInLine(fitColumns(text.slice(0, 1_000), most));
}
