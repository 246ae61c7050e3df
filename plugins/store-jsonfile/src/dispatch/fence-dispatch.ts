import { storeErrors } from '@hansard/provider';
import { type DispatchHead, readHead } from '../head/dispatch-head.ts';
import { fitHead } from '../head/head-codec.ts';
import { OpenFile } from '../lines/open-file.ts';
import { readAllEvents } from '../lines/read-events.ts';
import type { FencedClaim } from './dispatch-claims.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';
import { DispatchReader } from './dispatch-reader.ts';
import { copyBytes, replaceByCopy } from './rewrite-dispatch.ts';

/** Milliseconds. A call waits no longer for another process. */
const longestWait = 100;
const waitBetween = 2;

/**
 * Ends the writing of the owners that lost a claimed dispatch, before this opening writes its file in place. An owner that is not proven to have
 * exited has an open file, and the system cannot refuse its writes. So:
 * 1. The lock of this claim exists already. Wait until each owner must have checked its lock: events that it still acknowledges
 *    without a check are then in the file.
 * 2. Remove the copies that these owners had begun, so that a process that continues later cannot rename one over the file.
 * 3. Create a copy, then check that the own lock is the last one, then copy the head with the new number, and all bytes after it.
 * 4. Rename the copy over the file. An owner that continues later writes into a file that nobody reads, and notices the
 *    other inode or the other lock before it acknowledges the write.
 *
 * A `FencedClaim` has steps 1 and 2 behind it. Work that replaces the whole file by a copy of its own, or removes the file, does that in place of
 * steps 3 and 4.
 *
 * Invariant: a copy of an owner is never renamed after a later owner has opened the file. The owner creates the copy before it
 * checks its lock, and the later owner removes the copy after it has created its own lock; so one of them notices the other.
 *
 * @throws STORE_LOCKED, STORE_CORRUPT
 */
export function fenceDispatch(context: DispatchContext, claim: FencedClaim): void {
  const { files } = context;
  const { isFreeOfWriters, epoch } = claim.lock;
  if (isFreeOfWriters) return;
  const source = OpenFile.open(files, claim.name.paths.file, 'read');
  try {
    const copy = replaceByCopy(context, claim, (copied) => {
      const head = readHead(source);
      const bytes = encodeNext(head, epoch);
      copied.write(bytes, bytes.length, 0);
      copyBytes(source, head.start, source.stats().size, copied, bytes.length);
    });
    copy.close();
  } finally {
    source.close();
  }
  claim.removeLost();
}

function encodeNext({ record, slot }: DispatchHead, epoch: number): Buffer {
  const next = { ...record, revision: record.revision + 1, epoch };
  return fitHead(next, slot).bytes;
}

/**
 * Whether the owner that took a dispatch over during a write has copied the event of that write. `inode` is that of the file that was
 * written.
 * @throws STORE_UNAVAILABLE if that owner has not done that yet, so that nobody knows; STORE_CORRUPT
 */
export function hasCopied(
  context: DispatchContext,
  name: DispatchName,
  inode: number,
  eventId: string,
): boolean {
  awaitReplacement(context, name, inode);
  const reader = openReplacement(context, name);
  if (reader === null) return false;
  try {
    return reader.read(readAllEvents).some(({ id }) => id === eventId);
  } finally {
    reader.close();
  }
}

/** Waits until another file is at the path: an event that is in the own one can be too late for the copy. */
function awaitReplacement({ files, pause }: DispatchContext, { paths }: DispatchName, inode: number): void {
  const { file } = paths;
  for (let waited = 0; files.stat(file)?.ino === inode; waited += waitBetween) {
    if (waited >= longestWait)
      throw storeErrors.error(
        'STORE_UNAVAILABLE',
        `Another process took over ${file} during this write, and has not copied it yet: it is not known whether the write is in the log.`,
        { details: { file } },
      );
    pause(waitBetween);
  }
}

/** Null if the dispatch was deleted. */
function openReplacement({ files }: DispatchContext, name: DispatchName): DispatchReader | null {
  try {
    return DispatchReader.open(files, name);
  } catch (error) {
    if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return null;
    throw error;
  }
}
