import { basisNote, type PerspectiveRow, perspectiveOf, perspectiveWords } from '@hansard/views';
import type { PerspectiveAnswer, PerspectiveLine } from '../../lens-answers.ts';
import { lastLines, shownText, timeOf } from './lens-page.ts';
import type { RecentIndex } from './recent-index.ts';

/** What one agent was given, thought, did and said. @throws TypeError for an agent that is not in the log */
export function perspectiveLens(
  recent: RecentIndex,
  { agentId, end }: { readonly agentId: string; readonly end: number | null },
): PerspectiveAnswer {
  const rows = perspectiveOf(recent.index, agentId);
  return {
    ...recent.part(basisNote(rows)),
    agents: recent.agents(),
    agentId,
    ...lastLines(rows, end, (row) => perspectiveLine(recent, row)),
  };
}

function perspectiveLine(recent: RecentIndex, row: PerspectiveRow): PerspectiveLine {
  const position = recent.index.eventWithId(row.id)?.position ?? 0;
  return {
    position: recent.positionOf(position),
    time: timeOf(row.event),
    ...shownText(row.text),
    kind: row.kind,
    about: perspectiveWords(recent.index, row),
  };
}
