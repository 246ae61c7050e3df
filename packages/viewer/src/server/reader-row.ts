import { type Row, rowLine } from '@hansard/views';
import type { ReaderRow } from '../answers.ts';

/** Code points of a text. */
const longestText = 160;

export function readerRow(row: Row): ReaderRow {
  const { position, kind, word, agent, tone, isFailed, status = null, durationMs = null } = row;
  const time = Date.parse(row.timestamp);
  return {
    position,
    kind,
    word: word.slice(0, longestText),
    time: Number.isNaN(time) ? null : time,
    agentId: agent.agentId,
    agent: agent.name,
    ...rowLine(row, longestText),
    tone,
    isFailed,
    status: status === 'completed' ? null : status,
    durationMs,
  };
}
