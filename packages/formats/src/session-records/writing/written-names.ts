import type { CapturedEvent } from '@hansard/events';
import { keptRemainder } from '../remainder.ts';
import { isRecordType } from '../session-dialect.ts';

/** The ids of records and agents as their own log has them, for events that had to get other ids. */
export interface WrittenNames {
  /** The id of the record with this first event. */
  idOf(first: CapturedEvent): string;
  agentId(agentId: string): string;
}

export const sameNames: WrittenNames = { idOf: ({ id }) => id, agentId: (agentId) => agentId };

export function createWrittenNames(events: readonly CapturedEvent[]): WrittenNames {
  const agents = new Map<string, string>();
  for (const event of events) {
    const written = event.agentId === undefined ? undefined : writtenAs(event, 'agent_id');
    if (event.agentId !== undefined && written !== undefined && !agents.has(event.agentId))
      agents.set(event.agentId, written);
  }
  return {
    idOf: (first) => writtenAs(first, 'message_id') ?? first.id,
    agentId: (agentId) => agents.get(agentId) ?? agentId,
  };
}

/** The text that a record of a log has as its id or as its agent; undefined if its events have it. */
function writtenAs(event: CapturedEvent, key: 'message_id' | 'agent_id'): string | undefined {
  const value = isRecordType(event.type) ? event.data[key] : keptRemainder(event)?.put?.[`/${key}`];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
