import type { CapturedEvent } from '@hansard/events';
import type { LogNode } from './log-node.ts';
import type { ReadLog } from './read-log.ts';

/**
 * The pass that links each tool result and each hook decision to its tool call: the latest of its agent with that call id.
 * By the position of the result or decision.
 */
export function linkToolCalls({
  nodes,
  messageAt,
  decisions,
}: Pick<ReadLog, 'nodes' | 'messageAt' | 'decisions'>): ReadonlyMap<number, LogNode> {
  const latest = new Map<string, LogNode>();
  const callAt = new Map<number, LogNode>();
  const decisionsAt = new Set(decisions.map(({ position }) => position));
  for (const node of nodes) {
    const { event, position } = node;
    const isReadable = messageAt[position] != null || decisionsAt.has(position);
    if (!isReadable || event.data.toolCallId === undefined) continue;
    if (event.type === 'agent:tool_call') latest.set(callKey(event), node);
    else if (event.type === 'agent:tool_result' || event.type === 'harness:hook_decision') {
      const call = latest.get(callKey(event));
      if (call !== undefined) callAt.set(position, call);
    }
  }
  return callAt;
}

/** An agent id contains no space. */
function callKey({ agentId = '', data }: CapturedEvent): string {
  return `${agentId} ${data.toolCallId}`;
}
