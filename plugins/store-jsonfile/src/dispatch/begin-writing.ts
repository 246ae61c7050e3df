import { readHead } from '../head/dispatch-head.ts';
import { HeadKeeper } from '../head/head-keeper.ts';
import { syncFolders } from '../lines/open-file.ts';
import { currentMoment, type Moment } from '../locks/moment.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { DispatchWriter } from './dispatch-writer.ts';
import { fenceDispatch } from './fence-dispatch.ts';
import { removeOtherCopies } from './other-copies.ts';
import { prepareAppend } from './tail-repair.ts';

/**
 * Opens a claimed dispatch for writing: ends the writing of earlier owners, repairs a torn tail, and
 * records the number of the claim if an earlier one was lost.
 * @throws STORE_LOCKED if the claim is lost meanwhile, STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT
 */
export function beginWriting(context: DispatchContext, name: DispatchName): DispatchWriter {
  const { root, files, claims, clock, sync } = context;
  // The creator of the dispatch may have exited before its name was on the disk.
  if (sync) syncFolders(files, name.paths.folder, root);
  if (claims.lockOf(name).lost.length > 0) fenceDispatch(context, name);
  else if (context.leftCopies.take(name)) removeOtherCopies(context, name);
  const checkedAt = currentMoment(clock);
  const file = openOwnFile(context, name);
  let writer: DispatchWriter;
  try {
    writer = prepareWriter(context, name, file, checkedAt);
  } catch (error) {
    file.open.close();
    throw error;
  }
  try {
    const { lost } = claims.lockOf(name);
    if (lost.length > 0 || writer.isHeadDamaged) writer.writeHead({});
    if (lost.length > 0) claims.removeLost(name);
  } catch (error) {
    writer.end();
    throw error;
  }
  return writer;
}

function openOwnFile({ claims, files }: DispatchContext, name: DispatchName): DispatchFile {
  if (!claims.isKept(name)) {
    claims.release(name);
    throw claims.missing(name);
  }
  return openDispatchFile(files, name, 'write');
}

function prepareWriter(
  context: DispatchContext,
  name: DispatchName,
  file: DispatchFile,
  checkedAt: Moment,
): DispatchWriter {
  const { claims, sync, onRepair } = context;
  const { taskDir, dispatchId, paths } = name;
  const head = readHead(file.open);
  const { point, repair } = prepareAppend(file.open, head, sync);
  if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
  return new DispatchWriter(context, name, {
    file,
    point,
    head: HeadKeeper.ofClaim(head, claims.lockOf(name).epoch, checkedAt.monotonic),
    checkedAt,
  });
}
