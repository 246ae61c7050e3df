import { agentLabel, type DialogRow, dialogOf, missedBy, type Speaker, speakerLabel } from '@hansard/views';
import type { DialogAnswer, DialogLine } from '../../lens-answers.ts';
import { lastLines, shownText, timeOf } from './lens-page.ts';
import type { RecentIndex } from './recent-index.ts';

/** What was said among the chosen agents, or by all. @throws TypeError for an agent that is not in the log */
export function dialogLens(
  recent: RecentIndex,
  { agents, end }: { readonly agents: readonly string[]; readonly end: number | null },
): DialogAnswer {
  const rows = dialogOf(recent.index, agents.length === 0 ? undefined : agents);
  return {
    ...recent.part(),
    agents: recent.agents(),
    ...lastLines(rows, end, (row) => dialogLine(recent, row)),
  };
}

function dialogLine(recent: RecentIndex, row: DialogRow): DialogLine {
  const { index } = recent;
  return {
    position: recent.positionOf(row.position),
    time: timeOf(row.event),
    ...shownText(row.text),
    ...speakerOf(recent, row.speaker),
    heard: row.audience.map(({ agentId, how, position, text }) => ({
      id: agentId,
      name: agentLabel(index, agentId),
      how,
      position: recent.positionOf(position),
      text: how === 'altered' ? shownText(text ?? '').text : null,
    })),
    // In a part of a log, not everybody who was present is known.
    notHeardBy: recent.isPartial ? null : missedBy(index, row),
  };
}

export function speakerOf({ index }: RecentIndex, speaker: Speaker) {
  return {
    speaker: speakerLabel(index, speaker),
    speakerId: speaker.kind === 'agent' ? (speaker.agentId ?? '') : null,
  };
}
