import type { CapturedEvent } from '@hansard/events';

/** The agent that events without `agentId` belong to: the first agent created without a cause, else the first in the log, else ''. */
export function rootOf(events: readonly CapturedEvent[]): string {
  let first = '';
  for (const { type, agentId, cause } of events) {
    if (agentId === undefined) continue;
    if (type === 'agent:created' && cause === undefined) return agentId;
    if (first === '') first = agentId;
  }
  return first;
}
