import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import {
  type DispatchClaim,
  type EventPage,
  isStoreError,
  type ReadEventsOptions,
  type StoreError,
} from '@hansard/provider';
import { dispatchNotFound, isSystemError, orMissing } from '@hansard/store-kit';
import { corrupt } from '../errors.ts';
import type { EventRange } from '../lines/event-range.ts';
import { syncFolder } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import { currentMoment, elapsedSince, type Moment, never } from '../locks/moment.ts';
import { AppendWriter } from './append-writer.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { readHead } from './dispatch-head.ts';
import { checkInterval, fenceDispatch } from './fence-dispatch.ts';
import { findTail } from './file-tail.ts';
import { encodeHead, slotFor } from './head-codec.ts';
import { type HeadChanges, HeadKeeper } from './head-keeper.ts';
import { copyBytes, replaceByCopy } from './replace-by-copy.ts';
import { copyFrom1 } from './rewrite-dispatch.ts';
import { prepareAppend } from './tail-repair.ts';

/** The parts of a claimed dispatch that are written. */
interface Writing {
  readonly events: AppendWriter;
  readonly head: HeadKeeper;
}

/** An open dispatch: for reading and, after `claim`, for writing. */
export class DispatchHandle {
  readonly name: DispatchName;
  /** The time of the last use, as the count of the cache that keeps the handles. */
  lastUsed = 0;
  readonly #context: DispatchContext;
  #file: DispatchFile;
  #positions = new PositionIndex();
  /** The tail that was found complete, for the size and the time of change that the file had. */
  #known: { readonly size: number; readonly changedAt: number; readonly range: EventRange } | null = null;
  #writer: Writing | null = null;
  #isAcknowledgedLater = false;
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
  claim(isForced = false): Required<DispatchClaim> {
    const { claims } = this.#context;
    if (claims.has(this.name) && !claims.isKept(this.name)) this.#drop();
    if (this.#writer === null) claims.whileTaking(this.name, () => this.#beginWriting(), isForced);
    const { envelope } = readHead(this.#file.open);
    return { envelope, epoch: claims.lockOf(this.name).epoch };
  }

  /**
   * Ends the writing of a claimed dispatch: writes the exact length into its head. The caller then releases the claim.
   * @throws STORE_CORRUPT if the file is not at its path, unless a write has reported that
   */
  finish(): void {
    try {
      if (this.#isReported) return;
      const { events, head } = this.#writing(0);
      if (!head.has(events.acknowledged)) this.#writeHead({ acknowledged: events.acknowledged });
    } finally {
      this.#endWriting();
    }
  }

  append(event: CapturedEvent): boolean {
    const writer = this.#writing(checkInterval);
    const isAdded = writer.events.append(event);
    this.#confirm(event.id);
    if (isAdded) this.#acknowledge();
    return isAdded;
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    const writer = this.#writing(checkInterval);
    const isAdded = writer.events.appendAll(events);
    this.#confirm(events.at(-1)?.id ?? null);
    if (isAdded) this.#acknowledge();
    return isAdded;
  }

  /** Changes the envelope and returns it. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const { events, head } = this.#writing(0);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy, which only the caller has.
    const text = JSON.stringify({ ...head.record.envelope, ...Object.fromEntries(given) });
    this.#writeHead({ envelope: JSON.parse(text), acknowledged: events.acknowledged });
    this.#confirm(null);
    return JSON.parse(text);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  assertExists(): void {
    if (this.#writer === null && this.#context.files.stat(this.name.paths.file) === null)
      throw this.#notFound();
  }

  readAll(): CapturedEvent[] {
    return this.#read(readAllEvents);
  }

  readRecent(count: number): CapturedEvent[] {
    return this.#read((range) => readRecentEvents(range, count));
  }

  readPage(options: ReadEventsOptions): EventPage {
    return this.#read((range) => readEventPage(range, this.#positions, options));
  }

  /** Removes the file and releases the claim. The caller then closes the handle. @throws STORE_LOCKED */
  remove(): void {
    const { files, claims, sync } = this.#context;
    const { file, folder } = this.name.paths;
    claims.whileTaking(this.name, () => {
      if (!files.remove(file)) throw this.#notFound();
    });
    this.#endWriting();
    claims.release(this.name);
    if (sync) syncFolder(files, folder);
  }

  /** Closes the file. A claim is kept. */
  close(): void {
    if (this.#writer !== null && this.#isAcknowledgedLater) ignoreRefusal(() => this.#acknowledgeNow());
    this.#endWriting();
    this.#file.open.close();
  }

  /**
   * The writer of a claimed dispatch. Checks the place of the file if the last check is at least `interval` milliseconds old.
   * @throws STORE_LOCKED if the dispatch is not claimed; STORE_CORRUPT
   */
  #writing(interval: number): Writing {
    if (this.#writer === null) {
      if (this.#context.claims.has(this.name)) return this.#beginWriting();
      this.assertExists();
      throw this.#context.claims.missing(this.name);
    }
    if (this.#context.clock.monotonic() - this.#checkedAt.monotonic >= interval) this.#check(this.#writer);
    return this.#writer;
  }

  /** Checks the claim and the place of the file. @throws STORE_LOCKED, STORE_CORRUPT, STORE_DISPATCH_NOT_FOUND */
  #check({ events }: Writing): void {
    const { files, claims, clock } = this.#context;
    const now = currentMoment(clock);
    let misplaced: unknown = null;
    try {
      assertInPlace(files, this.#file, this.name, events.range.end);
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
    this.#endWriting();
    this.#context.claims.release(this.name);
  }

  #beginWriting(): Writing {
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
    let head = readHead(this.#file.open);
    if (head.format === 1) {
      const repair = copyFrom1(this.#context, this.name, this.#file.open, head);
      if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
      this.#reopen('write');
      head = readHead(this.#file.open);
    }
    if (head.format === 1) throw corrupt(paths.file, 0, 'another program wrote it at the same time');
    const { point, repair } = prepareAppend(this.#file.open, head, sync);
    if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
    const { epoch, lost } = claims.lockOf(this.name);
    const events = new AppendWriter(point, sync);
    const writer = { events, head: HeadKeeper.ofClaim(head, epoch, now.monotonic) };
    this.#writer = writer;
    this.#checkedAt = now;
    try {
      // A head that is damaged in one of its slots is written again.
      if (lost.length > 0 || head.whole.includes(false))
        this.#writeHead({ acknowledged: events.acknowledged });
      if (lost.length > 0) claims.removeLost(this.name);
    } catch (error) {
      this.#endWriting();
      throw error;
    }
    return this.#writer;
  }

  #endWriting(): void {
    this.#writer = null;
    this.#context.later.remove(this.name.paths.file);
    this.#isAcknowledgedLater = false;
  }

  /** Writes the acknowledged length, now or within a second. */
  #acknowledge(): void {
    if (this.#writer === null) return;
    const { events, head } = this.#writer;
    if (head.isStale(events.count, this.#checkedAt.monotonic)) this.#acknowledgeNow();
    else if (!this.#isAcknowledgedLater) {
      this.#isAcknowledgedLater = true;
      this.#context.later.add(this.name.paths.file, () => this.#acknowledgeNow());
    }
  }

  /** A refusal of the system is ignored: the events are stored, and the next write or the release tries again. */
  #acknowledgeNow(): void {
    this.#isAcknowledgedLater = false;
    if (this.#writer === null) return;
    const { events, head } = this.#writer;
    const now = this.#context.clock.monotonic();
    ignoreRefusal(() => head.acknowledge(this.#file.open, events.acknowledged, now));
  }

  /**
   * Reads events. A takeover puts a copy in the place of the file, and the owner that lost the dispatch can still write into the
   * old one. So what was read from a file that is no longer at the path is read again.
   */
  #read<T>(work: (range: EventRange) => T): T {
    for (;;) {
      const range = this.#range();
      let result: T;
      try {
        result = work(range);
      } catch (error) {
        if (this.#isReplaced()) continue;
        throw error;
      }
      if (!this.#isReplaced()) return result;
    }
  }

  #isReplaced(): boolean {
    if (this.#writer !== null) return false;
    const stats = orMissing(() => this.#context.files.stat(this.name.paths.file));
    return stats !== null && stats.ino !== this.#file.inode;
  }

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
    this.#noticeLoss();
    if (this.#writer !== null) return this.#writer.events.range;
    const stats = orMissing(() => this.#context.files.stat(this.name.paths.file));
    if (stats === null) throw this.#notFound();
    if (stats.ino !== this.#file.inode) this.#reopen('read');
    const known = this.#known;
    if (known !== null && known.size === stats.size && known.changedAt === stats.ctimeMs) return known.range;
    const { open: file } = this.#file;
    const head = readHead(file);
    const { size, end, idOrder, count } = findTail(file, head);
    const range = { file, start: head.start, end, count, isChecked: head.format === 2 };
    this.#known = idOrder === null ? null : { size, range, changedAt: stats.ctimeMs };
    return range;
  }

  #reopen(access: 'read' | 'write'): void {
    const file = openDispatchFile(this.#context.files, this.name, access);
    if (file.inode !== this.#file.inode) this.#positions = new PositionIndex();
    this.#known = null;
    this.#file.open.close();
    this.#file = file;
  }

  #notFound(): StoreError {
    return dispatchNotFound(this.name.taskDir, this.name.dispatchId);
  }

  #writeHead(changes: HeadChanges): void {
    const { clock, sync } = this.#context;
    const writer = this.#writer;
    if (writer === null) return;
    if (writer.head.write(this.#file.open, changes, clock.monotonic(), sync)) return;
    this.#growHead(writer, changes);
  }

  /** Writes a copy with larger slots, and renames it over the file. */
  #growHead({ events, head }: Writing, changes: HeadChanges): void {
    const record = head.moved(changes);
    const slot = slotFor(record);
    const bytes = encodeHead(record, slot);
    const old = this.#file;
    const open = replaceByCopy(this.#context, this.name, (copy) => {
      copy.write(bytes, bytes.length, 0);
      const { range, closing } = events;
      const end = copyBytes(range.file, range.start, range.end, copy, bytes.length);
      copy.write(Buffer.from(closing), closing.length, end);
    });
    this.#file = { open, inode: open.stats().ino, start: bytes.length };
    events.moveTo(open, bytes.length);
    const now = this.#context.clock.monotonic();
    this.#writer = { events, head: new HeadKeeper({ record, slot, counting: 0, isSame: true }, now) };
    old.open.close();
  }
}

function ignoreRefusal(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
