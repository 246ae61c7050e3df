import type { WatchScope } from '@hansard/provider';
import { checksumOf, encodeChecksum } from '@hansard/store-kit';

/** Stands for a change of anything, in a notification that would be too long otherwise. */
export const everything = '*';

/**
 * The key of a change in a notification: the checksums of the task and of the dispatch. A notification has at most 7,999 bytes, and
 * names are longer. Two names with one checksum only cause a call too many.
 */
export function changeKey(taskDir: string, dispatchId: string | null): string {
  const task = encodeChecksum(checksumOf(taskDir));
  return dispatchId === null ? `${task}:` : `${task}:${encodeChecksum(checksumOf(dispatchId))}`;
}

/** Whether the change with a key is in a scope. */
export function isInScope(key: string, { taskDir, dispatchId }: WatchScope): boolean {
  if (key === everything || taskDir === undefined) return true;
  return dispatchId === undefined
    ? key.startsWith(changeKey(taskDir, null))
    : key === changeKey(taskDir, dispatchId);
}
