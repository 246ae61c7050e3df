import { basename, join } from 'node:path';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { DispatchClaim, EventPage, ReadEventsOptions } from '@hansard/provider';
import { dispatchNotFound, isSystemError } from '@hansard/store-kit';
import { closings, type IdOrder, isDigest } from '../disk-format.ts';
import type { Files } from '../files.ts';
import { type DispatchHead, readHead } from '../head/dispatch-head.ts';
import { HeadKeeper } from '../head/head-keeper.ts';
import { keptDamaged } from '../integrity/accept-loss.ts';
import { eventIdOf } from '../lines/event-line.ts';
import { type EventRange, type OpenFile, syncFolder, syncFolders } from '../lines/open-file.ts';
import { parseLine, readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import { findLastLines, scanLines } from '../lines/scan-lines.ts';
import { currentMoment, type Moment } from '../locks/moment.ts';
import { discard, type FencedClaim } from './dispatch-claims.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertOwnFile, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { DispatchReader, type ReadWork } from './dispatch-reader.ts';
import { type AppendPoint, DispatchWriter, restoreClosing } from './dispatch-writer.ts';
import { fenceDispatch } from './fence-dispatch.ts';
import { type FileTail, findTail } from './file-tail.ts';

/** An open dispatch: for writing while it is claimed, otherwise for reading. */
export class DispatchHandle {
  readonly name: DispatchName;
  readonly #context: DispatchContext;
  #reader: DispatchReader | null;
  /** Null: it was not written yet. Set here only. */
  writer: DispatchWriter | null;

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(context: DispatchContext, name: DispatchName): DispatchHandle {
    return new DispatchHandle(context, name, DispatchReader.open(context.files, name));
  }

  /** A dispatch that was created now. */
  static ofNew(context: DispatchContext, name: DispatchName, writer: DispatchWriter): DispatchHandle {
    return new DispatchHandle(context, name, null, writer);
  }

  private constructor(
    context: DispatchContext,
    name: DispatchName,
    reader: DispatchReader | null,
    writer: DispatchWriter | null = null,
  ) {
    this.#context = context;
    this.name = name;
    this.#reader = reader;
    this.writer = writer;
  }

  /** Claims the dispatch, unless this opening still has its claim, and repairs a torn tail. @throws STORE_LOCKED, STORE_CORRUPT */
  claim(isForced = false): Required<DispatchClaim> {
    const { claims } = this.#context;
    this.dropIfLost();
    if (this.#openWriter() === null)
      claims.whileTaking(this.name, (claim) => this.#beginWriting(claim), { isForced });
    const { envelope } = this.writing();
    return { envelope: structuredClone(envelope), epoch: claims.lockOf(this.name).epoch };
  }

  /**
   * Ends the writing of a claimed dispatch: writes the exact length into its head. The caller then releases the claim.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    try {
      this.writing().finish();
    } finally {
      this.writer?.end();
    }
  }

  /** Changes the envelope and returns it. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    return this.writing().update(updates);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  assertExists(): void {
    const { taskDir, dispatchId, paths } = this.name;
    if (this.#openWriter() === null && this.#context.files.stat(paths.file) === null)
      throw dispatchNotFound(taskDir, dispatchId);
  }

  readAll(): CapturedEvent[] {
    return this.#read(readAllEvents);
  }

  readRecent(count: number): CapturedEvent[] {
    return this.#read((range) => readRecentEvents(range, count));
  }

  readPage(options: ReadEventsOptions): EventPage {
    return this.#read((range, positions) => readEventPage(range, positions, options));
  }

  /** Removes the file and releases the claim. The caller then closes the handle. @throws STORE_LOCKED */
  remove(): void {
    const { files, claims, sync } = this.#context;
    const { paths } = this.name;
    this.dropIfLost();
    claims.whileOwning(this.name, (claim) => {
      claim.assertKept();
      assertOwnFile(files, this.name);
      removeFiles(files, claim);
      claim.removeLost();
    });
    this.writer?.end();
    claims.release(this.name);
    if (sync) syncFolder(files, paths.folder);
  }

  /** Closes the file. A claim is kept. */
  close(): void {
    this.#openWriter()?.close();
    this.#closeReader();
  }

  /** The writer of a claimed dispatch. @throws STORE_LOCKED if the dispatch is not claimed; STORE_CORRUPT */
  writing(): DispatchWriter {
    const writer = this.#openWriter();
    if (writer !== null) return writer;
    const { claims } = this.#context;
    if (claims.has(this.name)) return this.#beginWriting(claims.claimOf(this.name));
    this.assertExists();
    throw claims.missing(this.name);
  }

  #openWriter(): DispatchWriter | null {
    const { writer } = this;
    if (writer === null || writer.isOver) return null;
    if (this.#context.claims.has(this.name)) return writer;
    // A deletion has noticed that another opening has taken the dispatch over.
    writer.end();
    return null;
  }

  #beginWriting(claim: FencedClaim): DispatchWriter {
    const writer = beginWriting(this.#context, claim);
    this.writer = writer;
    this.#closeReader();
    return writer;
  }

  /** Gives up a claim that another opening has taken over. */
  dropIfLost(): void {
    const { claims } = this.#context;
    if (claims.has(this.name) && !claims.isKept(this.name)) this.#drop();
  }

  #drop(): void {
    const writer = this.#openWriter();
    if (writer === null) this.#context.claims.release(this.name);
    else writer.drop();
  }

  #read<T>(work: ReadWork<T>): T {
    // It would read a file that is no longer at the path.
    this.#openWriter()?.noticeLoss();
    const writer = this.#openWriter();
    if (writer !== null) return writer.read(work);
    this.#reader ??= DispatchReader.open(this.#context.files, this.name);
    return this.#reader.read(work);
  }

  #closeReader(): void {
    this.#reader?.close();
    this.#reader = null;
  }
}

/**
 * Removes the file of a claimed dispatch, and what was kept of it. No system call removes a file only if its name still has the file that was
 * checked, but one moves a file only if a folder still exists. So:
 * 1. Make a folder that only this claim can make.
 * 2. Check the claim. A later owner removes the folder after it has created its own lock, so one of them notices the other.
 * 3. Move the files into the folder. An owner that was stopped before a move finds no folder, and changes nothing.
 * 4. Remove the folder. Nobody reads what is in it.
 *
 * @throws STORE_LOCKED if the claim is lost, STORE_DISPATCH_NOT_FOUND
 */
function removeFiles(files: Files, claim: FencedClaim): void {
  const { taskDir, dispatchId, paths } = claim.name;
  const { epoch, heartbeat } = claim.lock;
  const folder = paths.gone(epoch, heartbeat.lease.token);
  files.makeFolder(folder);
  try {
    claim.assertKept();
    for (const path of [...keptDamaged(files, paths.file), paths.file])
      files.rename(path, join(folder, basename(path)));
  } catch (error) {
    discard(files, folder);
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    claim.assertKept();
    if (files.stat(paths.file) === null) throw dispatchNotFound(taskDir, dispatchId);
    // A later owner has removed the folder, and released the dispatch without a change.
    removeFiles(files, claim);
    return;
  }
  discard(files, folder);
}

/**
 * Opens a claimed dispatch for writing: ends the writing of earlier owners, repairs a torn tail, and
 * records the number of the claim if an earlier one was lost.
 * @throws STORE_LOCKED if the claim is lost meanwhile, STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT
 */
function beginWriting(context: DispatchContext, claim: FencedClaim): DispatchWriter {
  const { root, files, clock, sync } = context;
  const { name } = claim;
  // The creator of the dispatch may have exited before its name was on the disk.
  if (sync) syncFolders(files, name.paths.folder, root);
  if (claim.lock.lost.length > 0) fenceDispatch(context, claim);
  const checkedAt = currentMoment(clock);
  const file = openOwnFile(context, claim);
  let writer: DispatchWriter;
  try {
    writer = prepareWriter(context, claim, file, checkedAt);
  } catch (error) {
    file.open.close();
    throw error;
  }
  try {
    const { lost } = claim.lock;
    if (lost.length > 0 || writer.isHeadDamaged) writer.writeHead({});
    if (lost.length > 0) claim.removeLost();
  } catch (error) {
    writer.end();
    throw error;
  }
  return writer;
}

function openOwnFile({ claims, files }: DispatchContext, { name, isKept }: FencedClaim): DispatchFile {
  if (!isKept) {
    claims.release(name);
    throw claims.missing(name);
  }
  return openDispatchFile(files, name, 'write');
}

function prepareWriter(
  context: DispatchContext,
  claim: FencedClaim,
  file: DispatchFile,
  checkedAt: Moment,
): DispatchWriter {
  const { sync, onRepair } = context;
  const { taskDir, dispatchId, paths } = claim.name;
  const head = readHead(file.open);
  const { point, repair } = prepareAppend(file.open, head, sync);
  if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
  return new DispatchWriter(context, claim, {
    file,
    point,
    head: HeadKeeper.ofClaim(head, claim.lock.epoch, checkedAt.monotonic),
    checkedAt,
  });
}

interface TailRepair {
  readonly offset: number;
  readonly removedBytes: number;
  readonly reason: string;
}

/**
 * Finds the place of the next append, and repairs a torn tail (see disk-format.ts, section 6). Only the owner of the lock may
 * call it.
 * @throws STORE_CORRUPT
 */
function prepareAppend(
  file: OpenFile,
  head: DispatchHead,
  sync: boolean,
): { readonly point: AppendPoint; readonly repair: TailRepair | null } {
  const { start, seed } = head;
  const tail = findTail(file, head);
  const { end, count, crc } = tail;
  const range = { file, start, seed, end, count };
  if (tail.idOrder !== null) {
    const greatestId = tail.idOrder === 'growing' ? greatestOfGrowing(range) : null;
    return { point: { end, count, crc, idOrder: tail.idOrder, greatestId }, repair: null };
  }
  const ids = readIds(range, start + 1);
  const repair = describeRepair(file, tail);
  restoreClosing(file, tail.end, closings[ids.idOrder]);
  if (sync) file.syncData();
  return { point: { end, count, crc, ...ids }, repair };
}

/** The last id that is not a digest. */
function greatestOfGrowing(range: EventRange & { readonly count: number }): string {
  for (let lines = 1; ; lines *= 8) {
    const { greatestId } = readIds(range, findLastLines(range, lines));
    if (greatestId !== '' || lines >= range.count) return greatestId;
  }
}

function readIds(
  range: EventRange,
  from: number,
): { readonly idOrder: IdOrder; readonly greatestId: string } {
  let idOrder: IdOrder = 'growing';
  let greatestId = '';
  scanLines(range, from, (line) => {
    const id = eventIdOf(line.bytes, line.start, line.end) ?? parseLine(range, line).id;
    if (isDigest(id)) return true;
    if (id > greatestId) greatestId = id;
    else idOrder = 'mixed';
    return true;
  });
  return { idOrder, greatestId };
}

function describeRepair(file: OpenFile, { end, size }: FileTail): TailRepair {
  // One byte more than the longest, so that what follows whole brackets is seen.
  const rest = file.read(end, Math.min(size, end + closings.mixed.length + 1)).toString('latin1');
  if (Object.values(closings).some((closing) => closing.startsWith(rest)))
    return { offset: end, removedBytes: 0, reason: 'The closing brackets were incomplete.' };
  return {
    offset: end,
    removedBytes: size - end,
    reason: 'An append was interrupted before it was complete.',
  };
}
