import { agentLabel } from '../agents/agent-label.ts';
import type { LogIndex } from '../log/log-index.ts';
import { eventLine } from '../rows/event-line.ts';
import { alignColumns } from '../text/align-columns.ts';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';
import type { CausalRow } from './causality.ts';

/** Causes or effects: a line with id, agent, kind and text, and below it the ids of its causes. */
export function renderCauses(index: LogIndex, rows: readonly CausalRow[]): string {
  const lines = alignColumns(
    rows.map(({ id, event }) => {
      const { kind, target, text } = eventLine(event);
      const what = [target, text].filter(Boolean).join(' ');
      return [neutraliseControlsInLine(id), agentLabel(index, event.agentId ?? ''), kind, what];
    }),
  ).split('\n');
  return rows.flatMap((row, position) => [lines[position] ?? '', ...reasonLine(row)]).join('\n');
}

function reasonLine({ because }: CausalRow): string[] {
  if (because.length === 0) return [];
  const reasons = because.map(({ kind, id, isLost }) => `${kind} ${id}${isLost ? ' (not in this log)' : ''}`);
  return [neutraliseControlsInLine(`    ← ${reasons.join(', ')}`)];
}
