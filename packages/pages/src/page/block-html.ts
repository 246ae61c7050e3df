import { formatTime } from '@hansard/facts';
import type { WordBlock, WordSpan } from '@hansard/views';
import { escapeHtml, escapeHtmlInLine, observedImage, textBlock } from '../html-text.ts';
import { proseHtml } from './prose.ts';

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
    case 'image':
      return observedImage(block) ?? `<div class="quiet">${escapeHtmlInLine(block.text)}</div>`;
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
