import { neutraliseControlsInLine } from '@hansard/events/plain';
import { basisNote } from '../knowledge/basis-note.ts';
import type { LogIndex } from '../log/log-index.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import { perspectiveWords } from '../words/dialog-words.ts';
import { spanText } from '../words/words.ts';
import type { PerspectiveRow } from './perspective.ts';

const positionColumns = 4;

/** One paragraph for each row, beginning with the position of its event. */
export function renderPerspective(index: LogIndex, rows: readonly PerspectiveRow[]): string {
  if (rows.length === 0) return '(nothing yet)';
  const lines = rows.map((row) => {
    const words = perspectiveWords(index, row);
    const head = neutraliseControlsInLine(spanText(words, 'head'));
    const about = head === '' ? '' : row.kind === 'did' ? `${head} ` : `${head}: `;
    const position = String(words.position).padStart(positionColumns);
    return hangingLines(`${position}  ${spanText(words, 'word').padEnd(8)}  ${about}`, row.text);
  });
  return [...basisNote(rows), ...lines].join('\n');
}
