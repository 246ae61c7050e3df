import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { DispatchClaim, EventPage, ReadEventsOptions, StoreError } from '@hansard/provider';
import { dispatchNotFound, isSystemError, orMissing } from '@hansard/store-kit';
import { corrupt } from '../errors.ts';
import type { EventRange } from '../lines/event-range.ts';
import { OpenFile, syncFolder } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import { AppendWriter } from './append-writer.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { readHead } from './dispatch-head.ts';
import { findTail } from './file-tail.ts';
import { encodeHead, slotFor } from './head-codec.ts';
import { type HeadChanges, HeadKeeper } from './head-keeper.ts';
import { copyFrom1 } from './rewrite-dispatch.ts';
import { prepareAppend } from './tail-repair.ts';

const copyChunk = 1024 * 1024;
/** Appends check at this interval, in milliseconds, that the file is at its path. A check costs as much as an append. */
const checkInterval = 50;

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
  #checkedAt = 0;
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

  /**
   * Claims the dispatch, repairs a torn tail and returns the envelope and the epoch, which each new claim makes greater.
   * @throws STORE_LOCKED, STORE_CORRUPT
   */
  claim(): Required<DispatchClaim> {
    const { claims } = this.#context;
    const isNew = !claims.has(this.name);
    if (this.#writer === null) claims.whileTaking(this.name, () => this.#beginWriting(isNew));
    const { head } = this.#writing(0);
    const { envelope, epoch } = head.record;
    return { envelope: structuredClone(envelope), epoch };
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
    if (!writer.events.append(event)) return false;
    this.#acknowledge(writer);
    return true;
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    const writer = this.#writing(checkInterval);
    if (!writer.events.appendAll(events)) return false;
    this.#acknowledge(writer);
    return true;
  }

  /** Changes the envelope and returns it. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const { events, head } = this.#writing(0);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy, which only the caller has.
    const text = JSON.stringify({ ...head.record.envelope, ...Object.fromEntries(given) });
    this.#writeHead({ envelope: JSON.parse(text), acknowledged: events.acknowledged });
    return JSON.parse(text);
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
      if (this.#context.claims.has(this.name)) return this.#beginWriting(false);
      this.assertExists();
      throw this.#context.claims.missing(this.name);
    }
    const now = this.#context.clock.monotonic();
    if (now - this.#checkedAt >= interval) {
      this.#isReported = true;
      assertInPlace(this.#context.files, this.#file, this.name, this.#writer.events.range.end);
      this.#isReported = false;
      this.#checkedAt = now;
    }
    return this.#writer;
  }

  /** Reads what the next write needs. `isNewClaim`: the claim is new, and gets its epoch. */
  #beginWriting(isNewClaim: boolean): Writing {
    const { files, clock, sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    files.remove(paths.temporary);
    this.#reopen('write');
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
    const events = new AppendWriter(point, sync);
    this.#writer = { events, head: new HeadKeeper(head, clock.monotonic()) };
    if (isNewClaim) {
      const epoch = head.record.epoch + 1;
      try {
        this.#writeHead({ epoch, acknowledged: events.acknowledged });
      } catch (error) {
        this.#endWriting();
        throw error;
      }
    }
    return this.#writer;
  }

  #endWriting(): void {
    this.#writer = null;
    this.#context.later.remove(this.name.paths.file);
    this.#isAcknowledgedLater = false;
  }

  /** Writes the acknowledged length, now or within a second. */
  #acknowledge({ events, head }: Writing): void {
    if (head.isStale(events.count, this.#checkedAt)) this.#acknowledgeNow();
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

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
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
    const { files, clock, sync } = this.#context;
    const { file, temporary, folder } = this.name.paths;
    const record = head.moved(changes);
    const slot = slotFor(record);
    const bytes = encodeHead(record, slot);
    const open = OpenFile.open(files, temporary, 'replace');
    const old = this.#file;
    try {
      open.write(bytes, bytes.length, 0);
      copyEvents(events, open, bytes.length);
      if (sync) open.sync();
      const inode = open.stats().ino;
      files.rename(temporary, file);
      this.#file = { open, inode, start: bytes.length };
      events.moveTo(open, bytes.length);
      const moved = new HeadKeeper({ record, slot, counting: 0, isSame: true }, clock.monotonic());
      this.#writer = { events, head: moved };
    } catch (error) {
      open.close();
      files.remove(temporary);
      throw error;
    }
    old.open.close();
    if (sync) syncFolder(files, folder);
  }
}

function ignoreRefusal(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

function copyEvents(events: AppendWriter, copy: OpenFile, start: number): void {
  const { range, closing } = events;
  let position = start;
  for (let from = range.start; from < range.end; from += copyChunk) {
    const bytes = range.file.read(from, Math.min(range.end, from + copyChunk));
    copy.write(bytes, bytes.length, position);
    position += bytes.length;
  }
  copy.write(Buffer.from(closing), closing.length, position);
}
