import { neutraliseControlsInLine } from '@hansard/events/plain';
import { speakerLabel } from '../agents/agent-label.ts';
import { basisNote } from '../knowledge/basis-note.ts';
import type { LogIndex } from '../log/log-index.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import { alteredNote } from '../words/hearing-words.ts';
import type { PerspectiveRow } from './perspective.ts';

const positionColumns = 4;

/** One paragraph for each row, beginning with the position of its event. */
export function renderPerspective(index: LogIndex, rows: readonly PerspectiveRow[]): string {
  if (rows.length === 0) return '(nothing yet)';
  const lines = rows.map((row) => {
    const position = String(index.eventWithId(row.id)?.position ?? '').padStart(positionColumns);
    return hangingLines(`${position}  ${row.kind.padEnd(8)}  ${startOf(index, row)}`, row.text);
  });
  return [...basisNote(rows), ...lines].join('\n');
}

function startOf(index: LogIndex, row: PerspectiveRow): string {
  const words = perspectiveWords(index, row);
  if (row.kind === 'did') return `${words} `;
  return words === '' ? '' : `${words}: `;
}

/** The tool of a row, whom it came from, and whether it was altered. */
export function perspectiveWords(index: LogIndex, { kind, from, how, tool }: PerspectiveRow): string {
  const toolName = tool === null ? '' : neutraliseControlsInLine(tool);
  if (kind === 'did') return toolName;
  const source = from === null ? '' : `from ${speakerLabel(index, from)}`;
  return [toolName, source, alteredNote(how)].filter(Boolean).join(' ');
}
