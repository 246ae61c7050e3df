import { dialogOf, dialogWords, type Speaker, speakerLabel } from '@hansard/views';
import type { DialogAnswer } from '../../answers.ts';
import { lastLines, talkLine } from './lens-page.ts';
import type { RecentIndex } from './recent-index.ts';

/** What was said among the chosen agents, or by all. @throws TypeError for an agent that is not in the log */
export function dialogLens(
  recent: RecentIndex,
  { agents, end }: { readonly agents: readonly string[]; readonly end: number | null },
): DialogAnswer {
  const { index, isPartial: isPart } = recent;
  const rows = dialogOf(index, agents.length === 0 ? undefined : agents);
  return {
    ...recent.part(),
    agents: recent.agents(),
    ...lastLines(rows, end, (row) => talkLine(recent, dialogWords(index, row, { isPart, isLinked: true }))),
  };
}

export function speakerOf({ index }: RecentIndex, speaker: Speaker) {
  return {
    speaker: speakerLabel(index, speaker),
    speakerId: speaker.kind === 'agent' ? (speaker.agentId ?? '') : null,
  };
}
