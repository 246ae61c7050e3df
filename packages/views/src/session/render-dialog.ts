import { neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import { missedBy } from '../audience/missed-by.ts';
import type { LogIndex } from '../log/log-index.ts';
import type { Hearing } from '../log/saying.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import type { DialogRow } from './dialog.ts';

/** The width of a column of positions. */
const positionColumns = 4;

/**
 * The position, speaker and text of each saying, and below it the agents that heard it; the received text where it was altered; and
 * the agents that were present and did not hear it.
 */
export function renderDialog(index: LogIndex, rows: readonly DialogRow[]): string {
  if (rows.length === 0) return '(nothing was said)';
  return rows
    .map((row) => {
      const said = `${String(row.position).padStart(positionColumns)}  ${speakerLabel(index, row.speaker)}: `;
      const margin = ' '.repeat(positionColumns + 2);
      const heard = heardLine(index, row.audience);
      const missed = missedBy(index, row);
      const apart = row.audience
        .filter(({ how }) => how === 'altered' || how === 'withheld')
        .map((hearing) => hangingLines(`${margin}${apartStart(index, hearing)}`, hearing.text ?? ''));
      return [
        hangingLines(said, row.text),
        ...(heard === '' ? [] : [`${margin}heard by ${heard}`]),
        ...apart,
        ...(missed === null ? [] : [`${margin}not heard by ${missed}`]),
      ].join('\n');
    })
    .join('\n');
}

function heardLine(index: LogIndex, audience: readonly Hearing[]): string {
  return audience
    .filter(({ how }) => how === 'same' || how === 'wrapped')
    .map(({ agentId, how }) => `${agentLabel(index, agentId)}${how === 'same' ? '' : ` (${how})`}`)
    .join(', ');
}

function apartStart(index: LogIndex, { agentId, how, via }: Hearing): string {
  const by = via === undefined ? '' : ` (via ${neutraliseControlsInLine(via)})`;
  const whom = agentLabel(index, agentId);
  return how === 'withheld' ? `withheld from ${whom}${by}` : `heard by ${whom}, altered${by}: `;
}
