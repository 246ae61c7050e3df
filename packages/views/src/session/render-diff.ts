import { neutraliseControls, neutraliseControlsInLine } from '@hansard/events/plain';
import { agentLabel, speakerLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { hangingLines } from '../text/hanging-lines.ts';
import { deliveryNote, nobodyHeardIt } from '../words/hearing-words.ts';
import type { DeliveryDiff, DiffPart } from './word-diff.ts';

/** The parts as one text: removed parts as `[-text-]`, added parts as `{+text+}`. */
export function renderDiff(parts: readonly DiffPart[]): string {
  return neutraliseControls(parts.map(partInText).join(''));
}

/** The word differences between a saying and each delivery of it. */
export function renderDeliveryDiffs(index: LogIndex, diffs: readonly DeliveryDiff[]): string {
  if (diffs.length === 0) return nobodyHeardIt;
  return diffs
    .map(({ saying, hearing, parts }) => {
      const who = `${speakerLabel(index, saying.speaker)} → ${agentLabel(index, hearing.agentId)}`;
      const start = neutraliseControlsInLine(`${hearing.event.id}  ${who} (${deliveryNote(hearing)}): `);
      return hangingLines(start, renderDiff(parts));
    })
    .join('\n');
}

function partInText({ kind, text }: DiffPart): string {
  if (kind === 'same') return text;
  return kind === 'removed' ? `[-${text}-]` : `{+${text}+}`;
}
