import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { LogIndex } from '../log/log-index.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import { dialogWords } from '../words/dialog-words.ts';
import { spanText, type WordBlock } from '../words/words.ts';
import type { DialogRow } from './dialog.ts';

/** The width of a column of positions. */
const positionColumns = 4;
const margin = ' '.repeat(positionColumns + 2);

/**
 * The position, speaker and text of each saying, and below it the agents that heard it; the received text where it was altered; and
 * the agents that were present and did not hear it.
 */
export function renderDialog(index: LogIndex, rows: readonly DialogRow[]): string {
  if (rows.length === 0) return '(nothing was said)';
  return rows
    .map((row) => {
      const words = dialogWords(index, row);
      const speaker = neutraliseControlsInLine(spanText(words, 'agent'));
      const start = `${String(row.position).padStart(positionColumns)}  ${speaker}: `;
      return linesOf(words.blocks, start).join('\n');
    })
    .join('\n');
}

/** A text stands beside the note before it, the first one beside `start`. */
function linesOf(blocks: readonly WordBlock[], start: string): string[] {
  const lines: string[] = [];
  let before: string | null = start;
  for (const block of blocks) {
    if (block.kind === 'text') {
      lines.push(hangingLines(before ?? margin, block.text));
      before = null;
    } else if (block.kind === 'note') {
      if (before !== null) lines.push(before);
      before = `${margin}${neutraliseControlsInLine(block.spans.map(({ text }) => text).join(' '))}`;
      const next = blocks[blocks.indexOf(block) + 1];
      if (next?.kind === 'text') before += ': ';
    }
  }
  return before === null ? lines : [...lines, before];
}
