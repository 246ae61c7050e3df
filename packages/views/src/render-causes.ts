import { agentLabel } from './agent-label.ts';
import { alignColumns } from './align-columns.ts';
import type { CausalRow } from './causality.ts';
import { eventLine } from './event-line.ts';
import type { LogIndex } from './log-index.ts';
import { neutraliseControlsInLine } from './neutralise-controls.ts';

/** Causes or effects: a line with id, agent and what happened, and below it why, by the ids of other lines. */
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
