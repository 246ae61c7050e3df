import type { CapturedEvent } from '@hansard/events';

const takesPart = /^(agent|user):/;

/**
 * The agent that events without `agentId` belong to: the first agent created without a cause; '' if that is a peer, because
 * the log then has no root. Otherwise '' if such an event is part of a conversation, else the first agent in the log, else ''.
 */
export function rootOf(events: readonly CapturedEvent[]): string {
  let first: string | null = null;
  let isUnnamed = false;
  for (const { type, agentId, cause, data } of events) {
    if (agentId === undefined) isUnnamed ||= takesPart.test(type);
    else if (type === 'agent:created' && cause === undefined) return data.peer === true ? '' : agentId;
    else first ??= agentId;
  }
  return isUnnamed ? '' : (first ?? '');
}
