import { corrupt } from '../errors.ts';
import { readHead } from '../head/dispatch-head.ts';
import { HeadKeeper } from '../head/head-keeper.ts';
import { syncFolders } from '../lines/open-file.ts';
import { currentMoment, type Moment } from '../locks/moment.ts';
import { AppendWriter } from './append-writer.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { DispatchWriter } from './dispatch-writer.ts';
import { fenceDispatch } from './fence-dispatch.ts';
import { removeOtherCopies } from './other-copies.ts';
import { copyFrom1 } from './rewrite-dispatch.ts';
import { prepareAppend } from './tail-repair.ts';

/**
 * Opens a claimed dispatch for writing: ends the writing of earlier owners, upgrades a file of format 1, repairs a torn tail, and
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

/** The file in format 2. From here on it is the own one: an owner that takes over later copies it. */
function openOwnFile(context: DispatchContext, name: DispatchName): DispatchFile {
  const { claims, files, onRepair } = context;
  const { taskDir, dispatchId, paths } = name;
  const file = openDispatchFile(files, name, 'write');
  let isOwn = false;
  try {
    if (!claims.isKept(name)) {
      claims.release(name);
      throw claims.missing(name);
    }
    const head = readHead(file.open);
    isOwn = head.format === 2;
    if (head.format === 2) return file;
    const repair = copyFrom1(context, name, file.open, head);
    if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
  } finally {
    if (!isOwn) file.open.close();
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
  if (head.format === 1) throw corrupt(paths.file, 0, 'another program wrote it at the same time');
  const { point, repair } = prepareAppend(file.open, head, sync);
  if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
  return new DispatchWriter(context, name, {
    file,
    events: new AppendWriter(point, sync),
    head: HeadKeeper.ofClaim(head, claims.lockOf(name).epoch, checkedAt.monotonic),
    checkedAt,
  });
}
