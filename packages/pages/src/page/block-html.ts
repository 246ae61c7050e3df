import { neutraliseControls } from '@hansard/events/plain';
import { formatTime } from '@hansard/facts';
import type { WordBlock, WordSpan } from '@hansard/views';
import MarkdownIt from 'markdown-it';
import { escapeHtml, escapeHtmlInLine, observedImage, textBlock } from '../html-text.ts';

/** Longer texts are shown as they are: rendering them takes long, and few of them are prose. */
const longest = 20_000;

/**
 * Markdown from an allow-list: what is not enabled here is text. HTML is always text, images and addresses in text are not
 * links, so nothing is loaded, and a link leads only to a web or mail address.
 */
const markdown = new MarkdownIt('zero', { html: false, linkify: false, breaks: true }).enable([
  'backticks',
  'blockquote',
  'code',
  'emphasis',
  'escape',
  'fence',
  'heading',
  'hr',
  'link',
  'list',
  'newline',
  'strikethrough',
  'table',
]);

/** A block of a row. `anchorOf`: the attribute that makes a record an anchor. */
export function blockHtml(block: WordBlock, anchorOf: (position: number) => string): string {
  if (block.kind === 'changed') {
    const parts = block.parts.map(({ kind, text }) => {
      const tag = { same: null, removed: 'del', added: 'ins' }[kind];
      return tag === null ? escapeHtml(text) : `<${tag}>${escapeHtml(text)}</${tag}>`;
    });
    return `<div class="altered">${escapeHtmlInLine(block.label ?? '')}: ${parts.join('')}</div>`;
  }
  const label = block.label === undefined ? '' : `<div class="label">${escapeHtmlInLine(block.label)}</div>`;
  return label + unlabelled(block, anchorOf);
}

function unlabelled(
  block: Exclude<WordBlock, { kind: 'changed' }>,
  anchorOf: (position: number) => string,
): string {
  switch (block.kind) {
    case 'text': {
      const prose = block.isProse ? proseHtml(block.text) : null;
      if (prose === null) return textBlock(block.text, block.isProse ? 'text' : 'code plain');
      return `<div class="prose" dir="auto">${prose}</div>`;
    }
    case 'code':
      return textBlock(block.text, 'code');
    case 'table': {
      const pairs = block.rows.map(
        ([name, value]) => `<span><i>${escapeHtmlInLine(name)}</i> ${escapeHtmlInLine(value)}</span>`,
      );
      return `<div class="fields" dir="auto">${pairs.join(' ')}</div>`;
    }
    case 'diff': {
      const tags = { same: 'span', removed: 'del', added: 'ins' } as const;
      const marks = { same: ' ', removed: '-', added: '+' } as const;
      const lines = block.lines.map(
        ({ kind, text }) => `<${tags[kind]}>${marks[kind]} ${escapeHtmlInLine(text)}</${tags[kind]}>`,
      );
      return `<div class="code diff">${lines.join('')}</div>`;
    }
    case 'media':
      return observedImage(block.media) ?? `<div class="quiet">${escapeHtmlInLine(block.text)}</div>`;
    case 'note':
      return noteHtml(block, block.source === 'hook' ? 'decision' : 'heard');
    case 'records': {
      const items = block.records.map(
        ({ position, timestamp, text }) =>
          `<li${anchorOf(position)}><time>${formatTime(timestamp)}</time> ${escapeHtmlInLine(text)}</li>`,
      );
      return `<details class="folded"><summary>${escapeHtmlInLine(block.summary)}</summary><ol>${items.join('')}</ol></details>`;
    }
  }
}

/** A line about what happened. */
export function noteHtml({ spans }: { readonly spans: readonly WordSpan[] }, className: string): string {
  const words = spans.map(({ text }) => `<bdi>${escapeHtmlInLine(text)}</bdi>`);
  return `<div class="${className}">${words.join(' ')}</div>`;
}

markdown.validateLink = (address) => /^(?:https?:\/\/|mailto:)/i.test(address.trim());

markdown.renderer.rules.link_open = (tokens, at, options, _, self) => {
  tokens[at]?.attrSet('rel', 'noreferrer noopener');
  return self.renderToken(tokens, at, options);
};

for (const cell of ['th_open', 'td_open'] as const)
  markdown.renderer.rules[cell] = (tokens, at) => `<${tokens[at]?.tag === 'th' ? 'th' : 'td'}>`;

/** Foreign prose as HTML; null if it is too long to be rendered. */
function proseHtml(text: string): string | null {
  return text.length > longest ? null : markdown.render(neutraliseControls(text));
}
