import { breakRings } from './break-rings.ts';
import type { GatheredLog } from './gather-log.ts';
import { isUtterance, type LogMessage, type LogNode } from './log-node.ts';
import { resolveReference } from './resolve-reference.ts';

/**
 * Links each delivery with what it carries on: as recorded, or as the dialect left it to the reader. A tool result in
 * the very words of what another agent said since the call carries that on; of a prompt that one call gave several
 * agents, and of deliveries of something that is not in this log, the first stands for all.
 */
export function linkSubstances(log: GatheredLog): void {
  const said = new Map<string, LogNode>();
  const firsts = new Map<string, LogNode>();

  for (const node of log.nodes) {
    const { substance } = node.event;
    if (substance !== undefined) node.substance = resolveReference(log, substance);
  }
  for (const message of log.messages) {
    const { main, entry } = message;
    const { role, content } = entry.message;
    if (isUtterance(message)) said.set(content ?? '', main);
    else if (role === 'tool' && isWithoutOrigin(log, message)) {
      const utterance = said.get(content ?? '');
      if (utterance !== undefined && isSaidDuringCall(utterance, main)) main.substance = utterance;
    }
    const shared = main.substance === null ? sharedKey(message) : null;
    if (shared === null) continue;
    const first = firsts.get(shared);
    if (first === undefined) firsts.set(shared, main);
    else main.substance = first;
  }
  breakRings(log.nodes);
}

function isWithoutOrigin(log: GatheredLog, { entry: { substance, cause = [] } }: LogMessage): boolean {
  if (substance !== undefined) return false;
  return cause.every((id) => resolveReference(log, id)?.event.type === 'agent:tool_call');
}

function isSaidDuringCall(utterance: LogNode, result: LogNode): boolean {
  const { call } = result;
  if (call === null || utterance.event.agentId === result.event.agentId) return false;
  return utterance.position > call.position;
}

/** What deliveries without a substance in this log have in common, if they are deliveries of the same. */
function sharedKey({ entry: { message, substance, cause } }: LogMessage): string | null {
  if (substance !== undefined) return JSON.stringify(['substance', substance]);
  if (message.role !== 'user' || cause === undefined || message.source?.kind !== 'agent') return null;
  return JSON.stringify(['cause', cause, message.source, message.content]);
}
