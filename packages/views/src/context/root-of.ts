import type { CapturedEvent } from '@hansard/events';

/** The agent whose an event without `agentId` is: the first that nobody created, else the first in the log, else ''. */
export function rootOf(events: readonly CapturedEvent[]): string {
  let first = '';
  for (const { type, agentId, cause } of events) {
    if (agentId === undefined) continue;
    if (type === 'agent:created' && cause === undefined) return agentId;
    if (first === '') first = agentId;
  }
  return first;
}
