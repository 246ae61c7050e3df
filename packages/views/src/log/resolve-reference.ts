import type { GatheredLog } from './gather-log.ts';
import type { LogNode } from './log-node.ts';

/**
 * The event that a reference means. The id of a message means what it says, or else its first call; any other id of
 * an event means that very event.
 */
export function resolveReference(
  { byId, byMessageId }: Pick<GatheredLog, 'byId' | 'byMessageId'>,
  id: string,
): LogNode | null {
  const node = byId.get(id);
  if (node === undefined) return byMessageId.get(id)?.main ?? null;
  return node.event.messageId === id ? (node.message?.main ?? node) : node;
}
