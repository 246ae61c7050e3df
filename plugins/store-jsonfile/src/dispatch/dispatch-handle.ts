import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { EventPage, ReadEventsOptions, StoreError, StoreRepair } from '@hansard/provider';
import { notFound, orMissing } from '../errors.ts';
import { openFile, readBytes, syncFolder, writeFully } from '../lines/file-io.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from '../lines/read-events.ts';
import type { EventRange } from '../lines/scan-lines.ts';
import type { WriterLocks } from '../writer-lock.ts';
import { AppendWriter } from './append-writer.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { encodeHead, encodeHeadFor, readHead } from './dispatch-head.ts';
import { findTail } from './file-tail.ts';
import { prepareAppend } from './tail-repair.ts';

const copyChunk = 1024 * 1024;
/** How often a writer looks whether its file still lies in its place, in milliseconds. A look costs as much as an append. */
const lookEvery = 50;

export interface DispatchContext {
  readonly locks: WriterLocks;
  /** Whether each write goes down to the disk. */
  readonly sync: boolean;
  readonly onRepair: (repair: StoreRepair) => void;
}

/** One dispatch held open: for reading, and from the first change on for writing. */
export class DispatchHandle {
  readonly name: DispatchName;
  /** When it was used last, counted by who keeps the handles. */
  lastUsed = 0;
  readonly #context: DispatchContext;
  #file: DispatchFile;
  #positions = new PositionIndex();
  #whole: { readonly size: number; readonly changedAt: number; readonly end: number } | null = null;
  #writer: AppendWriter | null = null;
  #lookedAt = 0;

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(context: DispatchContext, name: DispatchName): DispatchHandle {
    return new DispatchHandle(context, name, openDispatchFile(name, 'read'));
  }

  private constructor(context: DispatchContext, name: DispatchName, file: DispatchFile) {
    this.#context = context;
    this.name = name;
    this.#file = file;
  }

  append(event: CapturedEvent): boolean {
    return this.#writing(lookEvery).append(event);
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    return this.#writing(lookEvery).appendAll(events);
  }

  /** Changes the envelope, and gives the right to write back where that ends the dispatch. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const writer = this.#writing(0);
    const { envelope, slot, eventBytes } = readHead(this.#file.fd, this.name.paths.file);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    const changed = { ...envelope, ...Object.fromEntries(given) };
    const isRunning = changed.status === 'running';
    const reach = isRunning ? eventBytes : writer.range.end - writer.range.start;
    const head = encodeHeadFor(changed, reach, slot);
    if (head === null) this.#growHead(writer, encodeHead(changed, reach));
    else {
      writeFully(this.#file.fd, head, slot, 0);
      if (this.#context.sync) fdatasyncSync(this.#file.fd);
    }
    this.#file = { ...this.#file, isRunning };
    if (!isRunning) this.#endWriting();
    return changed;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  assertThere(): void {
    if (this.#writer === null && !existsSync(this.name.paths.file)) throw this.#notFound();
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

  /** Removes the file; the handle must be closed then. @throws STORE_LOCKED */
  remove(): void {
    const { file } = this.name.paths;
    this.#holdingLock(() => {
      if (orMissing(() => rmSync(file)) === null) throw this.#notFound();
    });
    if (this.#context.sync) syncFolder(this.name.paths.folder);
    this.#file = { ...this.#file, isRunning: false };
  }

  /** Gives the file back. The right to write a dispatch that still runs is kept. */
  close(): void {
    closeSync(this.#file.fd);
    if (!this.#file.isRunning) this.#endWriting();
  }

  #writing(longestUnseen: number): AppendWriter {
    if (this.#writer === null) return this.#beginWriting();
    const now = performance.now();
    if (now - this.#lookedAt >= longestUnseen) {
      assertInPlace(this.#file, this.name, this.#writer.range.end);
      this.#lookedAt = now;
    }
    return this.#writer;
  }

  #beginWriting(): AppendWriter {
    const { sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    return this.#holdingLock(() => {
      rmSync(paths.temporary, { force: true });
      this.#reopen('write');
      const { fd } = this.#file;
      const { point, repair } = prepareAppend(fd, paths.file, readHead(fd, paths.file), sync);
      if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
      this.#writer = new AppendWriter(point, sync);
      return this.#writer;
    });
  }

  /** Takes the lock, and gives it back only where that comes to nothing. */
  #holdingLock<T>(work: () => T): T {
    const { locks } = this.#context;
    const { lock } = this.name.paths;
    const hadLock = locks.has(lock);
    locks.take(lock);
    try {
      return work();
    } catch (error) {
      if (!hadLock) locks.release(lock);
      throw error;
    }
  }

  #endWriting(): void {
    this.#writer = null;
    this.#context.locks.release(this.name.paths.lock);
  }

  /** The events as they are now, also where another process changed the file or put a new one in its place. */
  #range(): EventRange {
    const file = this.name.paths.file;
    if (this.#writer !== null) return this.#writer.range;
    const stats = orMissing(() => statSync(file));
    if (stats === null) throw this.#notFound();
    if (stats.ino !== this.#file.inode) this.#reopen('read');
    const { fd, start } = this.#file;
    const known = this.#whole;
    if (known !== null && known.size === stats.size && known.changedAt === stats.ctimeMs)
      return { fd, file, start, end: known.end };
    const tail = findTail(fd, file, readHead(fd, file));
    this.#whole = tail.idOrder === null ? null : { ...tail, changedAt: stats.ctimeMs };
    return { fd, file, start, end: tail.end };
  }

  #reopen(access: 'read' | 'write'): void {
    const file = openDispatchFile(this.name, access);
    if (file.inode !== this.#file.inode) this.#positions = new PositionIndex();
    this.#whole = null;
    closeSync(this.#file.fd);
    this.#file = file;
  }

  #notFound(): StoreError {
    return notFound(this.name.taskDir, this.name.dispatchId);
  }

  /** Copies the dispatch behind its new head into a file that takes the place of this one. */
  #growHead(writer: AppendWriter, head: Buffer): void {
    const { file, temporary, folder } = this.name.paths;
    const fd = openFile(temporary, 'replace');
    const old = this.#file;
    try {
      writeFully(fd, head, head.length, 0);
      copyEvents(writer, fd, head.length);
      if (this.#context.sync) fsyncSync(fd);
      const inode = fstatSync(fd).ino;
      renameSync(temporary, file);
      this.#file = { ...old, fd, inode, start: head.length };
      writer.moveTo(fd, head.length);
    } catch (error) {
      closeSync(fd);
      rmSync(temporary, { force: true });
      throw error;
    }
    closeSync(old.fd);
    if (this.#context.sync) syncFolder(folder);
  }
}

function copyEvents(writer: AppendWriter, fd: number, start: number): void {
  const { range, closing } = writer;
  let position = start;
  for (let from = range.start; from < range.end; from += copyChunk) {
    const bytes = readBytes(range.fd, from, Math.min(range.end, from + copyChunk));
    writeFully(fd, bytes, bytes.length, position);
    position += bytes.length;
  }
  writeFully(fd, Buffer.from(closing), closing.length, position);
}
