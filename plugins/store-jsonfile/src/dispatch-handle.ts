import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { EventPage, ReadEventsOptions, StoreError, StoreRepair } from '@hansard/provider';
import { AppendWriter } from './append-writer.ts';
import { encodeHead, encodeHeadFor, readHead } from './dispatch-head.ts';
import { notFound, orMissing } from './errors.ts';
import { openFile, readBytes, syncFolder, writeFully } from './file-io.ts';
import { findTail } from './file-tail.ts';
import { PositionIndex } from './position-index.ts';
import { readAllEvents, readEventPage, readRecentEvents } from './read-events.ts';
import type { EventRange } from './scan-lines.ts';
import { prepareAppend } from './tail-repair.ts';
import type { DispatchPaths } from './task-folder.ts';
import type { WriterLocks } from './writer-lock.ts';

const copyChunk = 1024 * 1024;

export interface DispatchContext {
  readonly locks: WriterLocks;
  /** Whether each write goes down to the disk. */
  readonly sync: boolean;
  readonly onRepair: (repair: StoreRepair) => void;
}

export interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly paths: DispatchPaths;
}

interface DispatchFile {
  readonly fd: number;
  readonly inode: number;
  readonly start: number;
  readonly isRunning: boolean;
}

/** One dispatch held open: for reading, and from the first change on for writing. */
export class DispatchHandle {
  readonly name: DispatchName;
  /** When it was used last, counted by who keeps the handles. */
  lastUsed = 0;
  readonly #context: DispatchContext;
  #file: DispatchFile;
  #positions = new PositionIndex();
  #whole: { readonly size: number; readonly end: number } | null = null;
  #writer: AppendWriter | null = null;

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
    return (this.#writer ?? this.#beginWriting()).append(event);
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    return (this.#writer ?? this.#beginWriting()).appendAll(events);
  }

  /** Changes the envelope, and gives the right to write back where that ends the dispatch. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const writer = this.#writer ?? this.#beginWriting();
    const { envelope, slot } = readHead(this.#file.fd, this.name.paths.file);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    const changed = { ...envelope, ...Object.fromEntries(given) };
    const head = encodeHeadFor(changed, slot);
    if (head === null) this.#growHead(writer, encodeHead(changed));
    else {
      writeFully(this.#file.fd, head, slot, 0);
      if (this.#context.sync) fdatasyncSync(this.#file.fd);
    }
    this.#file = { ...this.#file, isRunning: changed.status === 'running' };
    if (!this.#file.isRunning) this.#endWriting();
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
    this.#holdingLock(() => rmSync(this.name.paths.file));
    if (this.#context.sync) syncFolder(this.name.paths.folder);
    this.#file = { ...this.#file, isRunning: false };
  }

  /** Gives the file back. The right to write a dispatch that still runs is kept. */
  close(): void {
    closeSync(this.#file.fd);
    if (!this.#file.isRunning) this.#endWriting();
  }

  #beginWriting(): AppendWriter {
    const { sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    return this.#holdingLock(() => {
      rmSync(paths.temporary, { force: true });
      this.#reopen('write');
      const { point, repair } = prepareAppend(this.#file.fd, paths.file, this.#file.start, sync);
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
    if (this.#whole !== null && this.#whole.size === stats.size)
      return { fd, file, start, end: this.#whole.end };
    const tail = findTail(fd, file, start);
    this.#whole = tail.idOrder === null ? null : tail;
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
    const fd = openSync(temporary, 'w+');
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

/** The envelope of a dispatch; null where the dispatch is not there. @throws STORE_CORRUPT */
export function readDispatchEnvelope(file: string): DispatchEnvelope | null {
  const fd = orMissing(() => openFile(file, 'read'));
  if (fd === null) return null;
  try {
    return readHead(fd, file).envelope;
  } finally {
    closeSync(fd);
  }
}

function openDispatchFile(name: DispatchName, access: 'read' | 'write'): DispatchFile {
  const fd = orMissing(() => openFile(name.paths.file, access));
  if (fd === null) throw notFound(name.taskDir, name.dispatchId);
  try {
    const { envelope, start } = readHead(fd, name.paths.file);
    return { fd, inode: fstatSync(fd).ino, start, isRunning: envelope.status === 'running' };
  } catch (error) {
    closeSync(fd);
    throw error;
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
