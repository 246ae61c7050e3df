import type { MediaPart } from '@hansard/events';
import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes foreign text for the content of an element or a quoted attribute, so that it is never markup. */
export function escapeHtml(text: string): string {
  return neutraliseControls(text).replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

/** The same on one line. */
export function escapeHtmlInLine(text: string): string {
  return escapeHtml(neutraliseControlsInLine(text));
}

/** A time as an element, for programs too if it is recorded. `shown`: as people read it. */
export function timeHtml(timestamp: string | null, shown: string): string {
  const forPrograms = timestamp === null ? '' : ` datetime="${escapeHtmlInLine(timestamp)}"`;
  return `<time${forPrograms}>${escapeHtmlInLine(shown)}</time>`;
}

const shownAtOnce = { characters: 2_000, lines: 40 };

/** A text as a block that keeps its lines. The rest of a long text unfolds. */
export function textBlock(text: string, className = 'text'): string {
  const block = `<div class="${className}" dir="auto">${escapeHtml(text)}</div>`;
  if (text.length <= shownAtOnce.characters && text.split('\n').length <= shownAtOnce.lines) return block;
  const summary = `${escapeHtmlInLine(beginningOf(text))} … <em>${text.length.toLocaleString('en')} characters</em>`;
  return `<details class="long"><summary>${summary}</summary>${block}</details>`;
}

/** The first characters, without splitting a surrogate pair. */
function beginningOf(text: string): string {
  return [...text.slice(0, 400)].slice(0, 200).join('');
}

const shownImages = /^image\/(png|jpeg|gif|webp)$/;
/** In characters of Base64. */
export const largestImage = 2_000_000;

/** An image; null if its bytes are not here, too large or not Base64, or if it is of another type. */
export function observedImage({ mediaType = '', base64 }: MediaPart): string | null {
  if (base64 === undefined || !shownImages.test(mediaType)) return null;
  if (base64.length > largestImage || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return null;
  return `<img class="observed" alt="what the agent saw" src="data:${mediaType};base64,${base64}">`;
}
