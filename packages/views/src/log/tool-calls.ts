import type { CapturedEvent } from '@hansard/events';
import type { LogNode } from './log-node.ts';
import type { ReadLog } from './read-log.ts';

/** The pass that links each tool result and each hook decision to its tool call: the latest of its agent with that call id. */
export function linkToolCalls({
  nodes,
  messageAt,
  decisions,
}: Pick<ReadLog, 'nodes' | 'messageAt' | 'decisions'>): ReadonlyMap<LogNode, LogNode> {
  const latest = new Map<string, LogNode>();
  const callOf = new Map<LogNode, LogNode>();
  const readableDecisions = new Set<LogNode>(decisions);
  for (const node of nodes) {
    const { event, position } = node;
    const isInTranscript = messageAt[position] != null;
    if (event.type === 'agent:tool_call') {
      if (isInTranscript) latest.set(callKey(event), node);
    } else if ((event.type === 'agent:tool_result' && isInTranscript) || readableDecisions.has(node)) {
      const call = event.data.toolCallId === undefined ? undefined : latest.get(callKey(event));
      if (call !== undefined) callOf.set(node, call);
    }
  }
  return callOf;
}

/** An agent id contains no space. */
function callKey({ agentId = '', data }: CapturedEvent): string {
  return `${agentId} ${data.toolCallId}`;
}
