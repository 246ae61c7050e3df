import { formatTime } from '@hansard/facts';
import { type Row, rowWords, spanText, type WordBlock } from '@hansard/views';
import { escapeHtmlInLine } from '../html-text.ts';
import { blockHtml } from './block-html.ts';

/** How many colours the style sheet has for agents. */
const colours = 6;

/** A row as an item of a list. `scope` begins the anchors of its dispatch: that of an event is `scope-position`. */
export function rowItem(row: Row, scope: string, role: string): string {
  const words = rowWords(row, { self: role });
  const { position, timestamp, kind, agentId, isFailed, tone, blocks } = words;
  const span = (...labels: Parameters<typeof spanText>[1][]) => escapeHtmlInLine(spanText(words, ...labels));
  const name = span('agent');
  const records = blocks.flatMap((block) => (block.kind === 'records' ? block.records : []));
  const anchored = new Set([position, ...records.map((one) => one.position)]);
  const anchors = row.events.filter((at) => !anchored.has(at)).map((at) => `<a id="${scope}-${at}"></a>`);
  const anchorOf = (at: number) => (at === position ? '' : ` id="${scope}-${at}"`);
  const head = span('head');
  const status = span('status');
  const state = status === '' ? '' : ` <span class="${isFailed ? 'bad' : 'quiet'}">${status}</span>`;
  const figures = words.spans.flatMap(({ label, text }) =>
    label === 'duration' || label === 'figure' ? escapeHtmlInLine(text) : [],
  );
  return [
    `<li class="row ${kind}${isFailed ? ' failed' : ''}${tone === 'dim' ? ' quiet' : ''}" id="${scope}-${position}" data-agent="${name}" tabindex="-1">`,
    `<a class="at" href="#${scope}-${position}" title="event ${position}, ${timestamp}"><time datetime="${timestamp}">${formatTime(timestamp)}</time></a>`,
    `<span class="who a${colourOf(agentId)} d${Math.min(words.depth, 4)}" dir="auto">${name}</span>`,
    `<div class="what">${anchors.join('')}<span class="word">${isFailed ? '✗ ' : ''}${span('word')}</span> ${head === '' ? '' : `<code dir="auto">${head}</code>`}${state}${blocksHtml(blocks, anchorOf)}</div>`,
    `<span class="fig">${figures.join(' · ')}</span></li>`,
  ].join('');
}

function blocksHtml(blocks: readonly WordBlock[], anchorOf: (position: number) => string): string {
  return [...Map.groupBy(blocks, ({ source }) => source)]
    .map(([source, own]) => {
      const html = own.map((block) => blockHtml(block, anchorOf)).join('');
      return source === 'outcome' ? `<div class="outcome">${html}</div>` : html;
    })
    .join('');
}

/** The first row of a day. */
export function dayItem(day: string): string {
  return `<li class="day">${day} <small>UTC</small></li>`;
}

function colourOf(agentId: string): number {
  let sum = 0;
  for (const character of agentId) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % colours;
}
