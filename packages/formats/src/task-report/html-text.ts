import { neutraliseControls, neutraliseControlsInLine } from '@hansard/views';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of others as the content of an element or a quoted attribute: shown as it is, never markup. */
function escapeHtml(text: string): string {
  return neutraliseControls(text).replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

/** The same on one line. */
export function escapeHtmlInLine(text: string): string {
  return escapeHtml(neutraliseControlsInLine(text));
}

const shownAtOnce = { characters: 2_000, lines: 40 };

/** A text as a block that keeps its lines; the rest of a long one unfolds. */
export function textBlock(text: string, className = 'text'): string {
  const block = `<div class="${className}" dir="auto">${escapeHtml(text)}</div>`;
  if (text.length <= shownAtOnce.characters && text.split('\n').length <= shownAtOnce.lines) return block;
  const summary = `${escapeHtmlInLine(beginningOf(text))} … <em>${text.length.toLocaleString('en')} characters</em>`;
  return `<details class="long"><summary>${summary}</summary>${block}</details>`;
}

/** The first characters, none of them cut in two. */
function beginningOf(text: string): string {
  return [...text.slice(0, 400)].slice(0, 200).join('');
}
