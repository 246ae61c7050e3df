import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { EventPage, ReadEventsOptions, StoreError, StoreRepair } from '@hansard/provider';
import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import { OpenFile, syncFolder } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import type { EventRange } from '../lines/scan-lines.ts';
import type { StoreSystem } from '../store-system.ts';
import { AppendWriter } from './append-writer.ts';
import type { DispatchClaims } from './dispatch-claims.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { type DispatchHead, encodeHead, encodeHeadFor, readHead } from './dispatch-head.ts';
import { findTail } from './file-tail.ts';
import { prepareAppend } from './tail-repair.ts';

const copyChunk = 1024 * 1024;
/** Appends check at this interval, in milliseconds, that the file is at its path. A check costs as much as an append. */
const checkInterval = 50;

export interface DispatchContext extends StoreSystem {
  readonly claims: DispatchClaims;
  /** Whether each write waits for the disk. */
  readonly sync: boolean;
  readonly onRepair: (repair: StoreRepair) => void;
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
  #knownTail: { readonly size: number; readonly changedAt: number; readonly end: number } | null = null;
  #writer: AppendWriter | null = null;
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

  /** Claims the dispatch, repairs a torn tail and returns the envelope. @throws STORE_LOCKED, STORE_CORRUPT */
  claim(): DispatchEnvelope {
    if (this.#writer === null) this.#context.claims.whileTaking(this.name, () => this.#beginWriting());
    return readHead(this.#file.open).envelope;
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
      const eventBytes = writer.eventBytes;
      if (head.eventBytes !== eventBytes) this.#writeHead(writer, head, head.envelope, eventBytes);
    } finally {
      this.#writer = null;
    }
  }

  append(event: CapturedEvent): boolean {
    return this.#writing(checkInterval).append(event);
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    return this.#writing(checkInterval).appendAll(events);
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
    this.#writeHead(writer, head, changed, eventBytes);
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
    const now = this.#context.clock.monotonic();
    if (now - this.#checkedAt >= interval) {
      this.#isReported = true;
      assertInPlace(this.#context.files, this.#file, this.name, this.#writer.range.end);
      this.#isReported = false;
      this.#checkedAt = now;
    }
    return this.#writer;
  }

  #beginWriting(): AppendWriter {
    const { files, sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    files.remove(paths.temporary);
    this.#reopen('write');
    const { open } = this.#file;
    const { point, repair } = prepareAppend(open, readHead(open), sync);
    if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
    this.#writer = new AppendWriter(point, sync);
    return this.#writer;
  }

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
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

  #writeHead(
    writer: AppendWriter,
    { slot }: DispatchHead,
    envelope: DispatchEnvelope,
    eventBytes: number | null,
  ): void {
    const head = encodeHeadFor(envelope, eventBytes, slot);
    if (head === null) {
      this.#growHead(writer, encodeHead(envelope, eventBytes));
      return;
    }
    this.#file.open.write(head, slot, 0);
    if (this.#context.sync) this.#file.open.syncData();
  }

  /** Writes a copy with a longer head, and renames it over the file. */
  #growHead(writer: AppendWriter, head: Buffer): void {
    const { files, sync } = this.#context;
    const { file, temporary, folder } = this.name.paths;
    const open = OpenFile.open(files, temporary, 'replace');
    const old = this.#file;
    try {
      open.write(head, head.length, 0);
      copyEvents(writer, open, head.length);
      if (sync) open.sync();
      const inode = open.stats().ino;
      files.rename(temporary, file);
      this.#file = { open, inode, start: head.length };
      writer.moveTo(open, head.length);
    } catch (error) {
      open.close();
      files.remove(temporary);
      throw error;
    }
    old.open.close();
    if (sync) syncFolder(files, folder);
  }
}

function copyEvents(writer: AppendWriter, copy: OpenFile, start: number): void {
  const { range, closing } = writer;
  let position = start;
  for (let from = range.start; from < range.end; from += copyChunk) {
    const bytes = range.file.read(from, Math.min(range.end, from + copyChunk));
    copy.write(bytes, bytes.length, position);
    position += bytes.length;
  }
  copy.write(Buffer.from(closing), closing.length, position);
}
