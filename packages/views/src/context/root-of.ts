import type { CapturedEvent } from '@hansard/events';

/**
 * The agent that events without `agentId` belong to: the first agent created without a cause, else the first in the log, else ''.
 * If the first one created without a cause is a peer, the log has no root: ''.
 */
export function rootOf(events: readonly CapturedEvent[]): string {
  let first = '';
  for (const { type, agentId, cause, data } of events) {
    if (agentId === undefined) continue;
    if (type === 'agent:created' && cause === undefined) return data.peer === true ? '' : agentId;
    if (first === '') first = agentId;
  }
  return first;
}
