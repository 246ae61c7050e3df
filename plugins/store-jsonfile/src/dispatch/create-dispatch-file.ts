import type { DispatchEnvelope } from '@hansard/events';
import { dispatchExists } from '@hansard/store-kit';
import { closings } from '../disk-format.ts';
import { fitHead, nothingAcknowledged } from '../head/head-codec.ts';
import { HeadKeeper } from '../head/head-keeper.ts';
import { createFile, OpenFile, syncFolders } from '../lines/open-file.ts';
import { currentMoment } from '../locks/moment.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';
import { DispatchWriter } from './dispatch-writer.ts';
import { removeOtherCopies } from './other-copies.ts';

/**
 * Creates a dispatch without events, complete or not at all. A `running` one is claimed, and its writer is returned; null for
 * any other. The folder must exist.
 * @throws STORE_DISPATCH_EXISTS
 */
export function createDispatchFile(
  context: DispatchContext,
  name: DispatchName,
  envelope: DispatchEnvelope,
): DispatchWriter | null {
  const { root, files, claims, clock, sync } = context;
  const { taskDir, dispatchId, paths } = name;
  const checkedAt = currentMoment(clock);
  const { epoch, lost } = claims.takeNew(name);
  let isClaimed = false;
  try {
    if (lost.length > 0) removeOtherCopies(context, name);
    const record = { revision: 1, epoch, acknowledged: nothingAcknowledged, envelope };
    const { slot, bytes: head } = fitHead(record);
    const content = Buffer.concat([head, Buffer.from(closings.growing)]);
    const file = createFile(files, paths.file, paths.temporary(epoch), content, sync);
    if (file === null) throw dispatchExists(taskDir, dispatchId);
    let open: OpenFile;
    try {
      if (lost.length > 0) claims.removeLost(name);
      if (sync) syncFolders(files, paths.folder, root);
      if (envelope.status !== 'running') return null;
      // Again, because who watches the folder receives the name by which a writer opened the file.
      open = OpenFile.open(files, paths.file, 'write');
      isClaimed = true;
    } finally {
      file.close();
    }
    const start = head.length;
    return new DispatchWriter(context, name, {
      file: { open, inode: file.inode, start },
      point: { end: start, count: 0, crc: 0, idOrder: 'growing', greatestId: '' },
      // A copy, because the caller may change its own.
      head: HeadKeeper.ofNew({ ...record, envelope: structuredClone(envelope) }, slot, checkedAt.monotonic),
      checkedAt,
    });
  } finally {
    if (!isClaimed) claims.release(name);
  }
}
