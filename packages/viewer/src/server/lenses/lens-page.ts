import { neutraliseControls } from '@hansard/events/plain';
import type { TalkWords, WordBlock } from '@hansard/views';
import type { TalkLine } from '../../answers.ts';
import { harmless } from '../cut-texts.ts';
import type { RecentIndex } from './recent-index.ts';

/** The most lines of an answer. */
const mostLines = 200;

export interface LinePage<Line> {
  readonly lines: readonly Line[];
  /** How many lines come before these. */
  readonly earlier: number;
}

/** The last lines before a line, counted from 0; null: the last of all. */
export function lastLines<Row, Line>(
  rows: readonly Row[],
  end: number | null,
  toLine: (row: Row) => Line,
): LinePage<Line> {
  const shown = rows.slice(0, end ?? rows.length).slice(-mostLines);
  const start = Math.min(end ?? rows.length, rows.length) - shown.length;
  return { lines: shown.map(toLine), earlier: start };
}

/** A text for the page: harmless, and cut between characters after `longest` code points. */
export function shownText(text: string, longest = 4_000): { readonly text: string; readonly isCut: boolean } {
  if (text.length <= longest) return { text: neutraliseControls(text), isCut: false };
  // A code point takes at most two units.
  const points = [...text.slice(0, 2 * longest)];
  if (points.length <= longest && text.length <= 2 * longest)
    return { text: neutraliseControls(text), isCut: false };
  return { text: neutraliseControls(points.slice(0, longest).join('')), isCut: true };
}

/** Milliseconds since 1970. Null: the time is not recorded, or is none. */
export function timeOf({ timestamp }: { readonly timestamp: string | null }): number | null {
  const time = timestamp === null ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(time) ? null : time;
}

/** A line of a conversation for the page. */
export function talkLine(recent: RecentIndex, words: TalkWords): TalkLine {
  const blocks = words.blocks.map((block): WordBlock => {
    if (block.kind === 'text') {
      const { text, isCut } = shownText(block.text);
      return { ...block, text: isCut ? `${text}…` : text };
    }
    if (block.kind !== 'note') return block;
    const spans = block.spans.map((span) =>
      span.position === undefined ? span : { ...span, position: recent.positionOf(span.position) },
    );
    return { ...block, spans };
  });
  const line = { ...words, blocks, position: recent.positionOf(words.position), time: timeOf(words) };
  return harmless(line);
}
