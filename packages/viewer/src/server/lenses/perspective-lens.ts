import { basisNote, perspectiveOf, perspectiveWords } from '@hansard/views';
import type { PerspectiveAnswer } from '../../answers.ts';
import { lastLines, talkLine } from './lens-page.ts';
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
    ...lastLines(rows, end, (row) => talkLine(recent, perspectiveWords(recent.index, row))),
  };
}
