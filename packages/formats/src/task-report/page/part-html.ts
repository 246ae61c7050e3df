import type { RowPart } from '@hansard/views';
import { escapeHtml, escapeHtmlInLine, observedImage, textBlock } from '../html-text.ts';
import { proseHtml } from './prose.ts';

export function partsHtml(parts: readonly RowPart[]): string {
  return parts.map((part) => partHtml(part)).join('');
}

/** A part of a row. `bare`: the escaped text alone. */
export function partHtml(part: RowPart, form: 'block' | 'bare' = 'block'): string {
  switch (part.kind) {
    case 'text': {
      if (form === 'bare') return escapeHtml(part.text);
      const prose = part.style === 'markdown' ? proseHtml(part.text) : null;
      const shown =
        prose === null
          ? textBlock(part.text, classOf(part.style))
          : `<div class="prose" dir="auto">${prose}</div>`;
      return label(part.label) + shown;
    }
    case 'json':
      return label(part.label) + textBlock(JSON.stringify(part.value, null, 2), 'code');
    case 'fields': {
      const pairs = part.fields.map(
        ([name, value]) => `<span><i>${escapeHtmlInLine(name)}</i> ${escapeHtmlInLine(value)}</span>`,
      );
      return `<div class="fields" dir="auto">${pairs.join(' ')}</div>`;
    }
    case 'diff': {
      const tags = { same: 'span', removed: 'del', added: 'ins' } as const;
      const marks = { same: ' ', removed: '-', added: '+' } as const;
      const lines = part.lines.map(
        ({ kind, text }) => `<${tags[kind]}>${marks[kind]} ${escapeHtmlInLine(text)}</${tags[kind]}>`,
      );
      return `${label(part.label)}<div class="code diff">${lines.join('')}</div>`;
    }
    case 'image':
      return observedImage(part) ?? `<div class="quiet">[${escapeHtmlInLine(part.mediaType)}]</div>`;
  }
}

function classOf(style: 'plain' | 'markdown' | 'code'): string {
  if (style === 'markdown') return 'text';
  return style === 'code' ? 'code' : 'code plain';
}

function label(text: string | undefined): string {
  return text === undefined ? '' : `<div class="label">${escapeHtmlInLine(text)}</div>`;
}
