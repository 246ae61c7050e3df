import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import {
  type DispatchClaim,
  type EventPage,
  isStoreError,
  type ReadEventsOptions,
  type StoreError,
} from '@hansard/provider';
import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import { syncFolder } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import type { EventRange } from '../lines/scan-lines.ts';
import { currentMoment, elapsedSince, type Moment, never } from '../locks/moment.ts';
import { AppendWriter } from './append-writer.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { type DispatchHead, encodeHead, encodeHeadFor, type HeadFields, readHead } from './dispatch-head.ts';
import { checkInterval, fenceDispatch } from './fence-dispatch.ts';
import { findTail } from './file-tail.ts';
import { copyBytes, replaceByCopy } from './replace-by-copy.ts';
import { prepareAppend } from './tail-repair.ts';

/** An open dispatch: for reading and, after `claim`, for writing. */
export class DispatchHandle {
  readonly name: DispatchName;
  /** The time of the last use, as the count of the cache that keeps the handles. */
  lastUsed = 0;
  readonly #context: DispatchContext;
  #file: DispatchFile;
  #positions = new PositionIndex();
  /** The tail that was found complete, for the size and the time of change that the file had. */
  #knownTail: { readonly size: number; readonly changedAt: number; readonly end: number } | null = null;
  #writer: AppendWriter | null = null;
  /** The last check of the claim and of the place of the file. */
  #checkedAt: Moment = never;
  /** Whether a call has reported that the file is not at its path. */
  #isReported = false;

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(context: DispatchContext, name: DispatchName): DispatchHandle {
    return new DispatchHandle(context, name, openDispatchFile(context.files, name, 'read'));
  }

  private constructor(context: DispatchContext, name: DispatchName, file: DispatchFile) {
    this.#context = context;
    this.name = name;
    this.#file = file;
  }

  /** Claims the dispatch, unless this opening still has its claim, and repairs a torn tail. @throws STORE_LOCKED, STORE_CORRUPT */
  claim(isForced = false): DispatchClaim {
    const { claims } = this.#context;
    if (claims.has(this.name) && !claims.isKept(this.name)) this.#drop();
    if (this.#writer === null) claims.whileTaking(this.name, () => this.#beginWriting(), isForced);
    return { envelope: readHead(this.#file.open).envelope, epoch: claims.lockOf(this.name).epoch };
  }

  /**
   * Ends the writing of a claimed dispatch: writes `eventBytes` into its head. The caller then releases the claim.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    try {
      if (this.#isReported) return;
      const writer = this.#writing(0);
      const head = readHead(this.#file.open);
      const { eventBytes } = writer;
      const { epoch } = this.#context.claims.lockOf(this.name);
      if (head.eventBytes !== eventBytes || head.epoch !== epoch)
        this.#writeHead(writer, head, { ...head, eventBytes });
    } finally {
      this.#writer = null;
    }
  }

  append(event: CapturedEvent): boolean {
    const isAdded = this.#writing(checkInterval).append(event);
    this.#confirm(event.id);
    return isAdded;
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    const isAdded = this.#writing(checkInterval).appendAll(events);
    this.#confirm(events.at(-1)?.id ?? null);
    return isAdded;
  }

  /** Changes the envelope and returns it. An update that ends the dispatch also writes `eventBytes`. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const writer = this.#writing(0);
    const head = readHead(this.#file.open);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy, which only the caller has.
    const changed: DispatchEnvelope = JSON.parse(
      JSON.stringify({ ...head.envelope, ...Object.fromEntries(given) }),
    );
    const eventBytes = changed.status === 'running' ? head.eventBytes : writer.eventBytes;
    this.#writeHead(writer, head, { ...head, envelope: changed, eventBytes });
    this.#confirm(null);
    return changed;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  assertExists(): void {
    if (this.#writer === null && this.#context.files.stat(this.name.paths.file) === null)
      throw this.#notFound();
  }

  readAll(): CapturedEvent[] {
    return readAllEvents(this.#range());
  }

  readRecent(count: number): CapturedEvent[] {
    return readRecentEvents(this.#range(), count);
  }

  readPage(options: ReadEventsOptions): EventPage {
    const range = this.#range();
    return readEventPage(range, this.#positions, options);
  }

  /** Removes the file and releases the claim. The caller then closes the handle. @throws STORE_LOCKED */
  remove(): void {
    const { files, claims, sync } = this.#context;
    const { file, folder } = this.name.paths;
    claims.whileTaking(this.name, () => {
      if (!files.remove(file)) throw this.#notFound();
    });
    this.#writer = null;
    claims.release(this.name);
    if (sync) syncFolder(files, folder);
  }

  /** Closes the file. A claim is kept. */
  close(): void {
    this.#file.open.close();
  }

  /**
   * The writer of a claimed dispatch. Checks the place of the file if the last check is at least `interval` milliseconds old.
   * @throws STORE_LOCKED if the dispatch is not claimed; STORE_CORRUPT
   */
  #writing(interval: number): AppendWriter {
    if (this.#writer === null) {
      if (this.#context.claims.has(this.name)) return this.#beginWriting();
      this.assertExists();
      throw this.#context.claims.missing(this.name);
    }
    if (this.#context.clock.monotonic() - this.#checkedAt.monotonic >= interval) this.#check(this.#writer);
    return this.#writer;
  }

  /** Checks the claim and the place of the file. @throws STORE_LOCKED, STORE_CORRUPT, STORE_DISPATCH_NOT_FOUND */
  #check(writer: AppendWriter): void {
    const { files, claims, clock } = this.#context;
    const now = currentMoment(clock);
    let misplaced: unknown = null;
    try {
      assertInPlace(files, this.#file, this.name, writer.range.end);
    } catch (error) {
      misplaced = error;
    }
    // After the file, because the next owner renames its copy after it has taken the lock.
    if (!claims.isKept(this.name)) {
      this.#drop();
      throw claims.missing(this.name);
    }
    this.#isReported = misplaced !== null;
    if (misplaced !== null) throw misplaced;
    this.#checkedAt = now;
  }

  /**
   * Before a write is acknowledged: checks the claim, if this process may have been stopped since the last check. If the claim
   * was lost during the write, the event `lastId` counts as written if the next owner has copied it.
   * @throws STORE_LOCKED, STORE_CORRUPT, STORE_DISPATCH_NOT_FOUND
   */
  #confirm(lastId: string | null): void {
    if (this.#writer === null || elapsedSince(this.#checkedAt, this.#context.clock) < checkInterval) return;
    try {
      this.#check(this.#writer);
    } catch (error) {
      if (!isStoreError(error, 'STORE_LOCKED') || lastId === null) throw error;
      if (!this.readAll().some(({ id }) => id === lastId)) throw error;
    }
  }

  /** Gives up a lost claim before a read, which would otherwise read a file that is no longer at the path. */
  #noticeLoss(): void {
    const { claims, clock } = this.#context;
    if (this.#writer === null || elapsedSince(this.#checkedAt, clock) < checkInterval) return;
    if (!claims.isKept(this.name)) this.#drop();
  }

  /** Gives up a claim that another opening has taken over. */
  #drop(): void {
    this.#writer = null;
    this.#context.claims.release(this.name);
  }

  #beginWriting(): AppendWriter {
    const { claims, clock, sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    if (claims.lockOf(this.name).lost.length > 0) fenceDispatch(this.#context, this.name);
    const now = currentMoment(clock);
    this.#reopen('write');
    // From here on this file is the own one: an owner that takes over later copies it.
    if (!claims.isKept(this.name)) {
      this.#drop();
      throw claims.missing(this.name);
    }
    const { open } = this.#file;
    const head = readHead(open);
    const { point, repair } = prepareAppend(open, head, sync);
    if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
    const writer = new AppendWriter(point, sync);
    if (claims.lockOf(this.name).lost.length > 0) {
      this.#writeHead(writer, head, head);
      claims.removeLost(this.name);
    }
    this.#checkedAt = now;
    this.#writer = writer;
    return writer;
  }

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
    this.#noticeLoss();
    if (this.#writer !== null) return this.#writer.range;
    const stats = orMissing(() => this.#context.files.stat(this.name.paths.file));
    if (stats === null) throw this.#notFound();
    if (stats.ino !== this.#file.inode) this.#reopen('read');
    const { open: file, start } = this.#file;
    const known = this.#knownTail;
    if (known !== null && known.size === stats.size && known.changedAt === stats.ctimeMs)
      return { file, start, end: known.end };
    const tail = findTail(file, readHead(file));
    this.#knownTail = tail.idOrder === null ? null : { ...tail, changedAt: stats.ctimeMs };
    return { file, start, end: tail.end };
  }

  #reopen(access: 'read' | 'write'): void {
    const file = openDispatchFile(this.#context.files, this.name, access);
    if (file.inode !== this.#file.inode) this.#positions = new PositionIndex();
    this.#knownTail = null;
    this.#file.open.close();
    this.#file = file;
  }

  #notFound(): StoreError {
    return dispatchNotFound(this.name.taskDir, this.name.dispatchId);
  }

  /** Writes a head with the number of the claim. */
  #writeHead(writer: AppendWriter, { slot }: DispatchHead, fields: HeadFields): void {
    const { sync, claims } = this.#context;
    const numbered = { ...fields, epoch: claims.lockOf(this.name).epoch };
    const head = encodeHeadFor(numbered, slot);
    if (head === null) {
      this.#growHead(writer, encodeHead(numbered));
      return;
    }
    this.#file.open.write(head, slot, 0);
    if (sync) this.#file.open.syncData();
  }

  /** Writes a copy with a longer head, and renames it over the file. */
  #growHead(writer: AppendWriter, head: Buffer): void {
    const old = this.#file;
    const open = replaceByCopy(this.#context, this.name, (copy) => {
      copy.write(head, head.length, 0);
      const { range, closing } = writer;
      const end = copyBytes(range.file, range.start, range.end, copy, head.length);
      copy.write(Buffer.from(closing), closing.length, end);
    });
    this.#file = { open, inode: open.stats().ino, start: head.length };
    writer.moveTo(open, head.length);
    old.open.close();
  }
}
