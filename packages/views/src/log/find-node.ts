import type { CapturedEvent } from '@hansard/events';
import type { LogIndex } from './log-index.ts';
import type { LogNode } from './log-node.ts';
import { resolveReference } from './resolve-reference.ts';

/** The event that an id means, or null. The id of a message means what it says, or else its first call. */
export function findEvent(index: LogIndex, id: string): CapturedEvent | null {
  return resolveReference(index, id)?.event ?? null;
}

/** @throws TypeError for an id that is not in the log; `findEvent` tells beforehand */
export function nodeNamed(index: LogIndex, id: string): LogNode {
  const node = resolveReference(index, id);
  if (node === null) throw new TypeError(`No event or message of this log has the id ${id}.`);
  return node;
}
