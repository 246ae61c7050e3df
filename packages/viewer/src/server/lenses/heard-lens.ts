import { cellInWords, type HearingRow, hearingMatrix, type LogAgent } from '@hansard/views';
import type { HeardAnswer, HeardLine } from '../../answers.ts';
import { speakerOf } from './dialog-lens.ts';
import { lastLines, shownText } from './lens-page.ts';
import type { RecentIndex } from './recent-index.ts';

/** Code points of a text. */
const longestText = 120;

/** Who heard what, and how. */
export function heardLens(recent: RecentIndex, { end }: { readonly end: number | null }): HeardAnswer {
  const { agents, rows } = hearingMatrix(recent.index);
  return {
    ...recent.part(),
    agents: agents.map(({ agentId: id, label: name }) => ({ id, name })),
    ...lastLines(rows, end, (row) => heardLine(recent, agents, row)),
  };
}

function heardLine(recent: RecentIndex, agents: readonly LogAgent[], row: HearingRow): HeardLine {
  const { saying, cells, notKnown } = row;
  return {
    position: recent.positionOf(saying.position),
    ...shownText(saying.text, longestText),
    ...speakerOf(recent, saying.speaker),
    cells: agents.map(({ agentId }) => cellInWords(cells.get(agentId), notKnown.includes(agentId))),
  };
}
