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
import { AppendWriter } from './append-writer.ts';
import type { DispatchClaims } from './dispatch-claims.ts';
import { assertInPlace, type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { type DispatchHead, encodeHead, encodeHeadFor, readHead } from './dispatch-head.ts';
import { findTail } from './file-tail.ts';
import { prepareAppend } from './tail-repair.ts';

const copyChunk = 1024 * 1024;
/** How often a writer looks whether its file still lies in its place, in milliseconds. A look costs as much as an append. */
const lookEvery = 50;

export interface DispatchContext {
  readonly claims: DispatchClaims;
  /** Whether each write goes down to the disk. */
  readonly sync: boolean;
  readonly onRepair: (repair: StoreRepair) => void;
}

/** One dispatch held open: for reading and, once it is claimed, for writing. */
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
  /** Whether a call has reported that the file is not where readers find it. */
  #isReported = false;

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(context: DispatchContext, name: DispatchName): DispatchHandle {
    return new DispatchHandle(context, name, openDispatchFile(name, 'read'));
  }

  private constructor(context: DispatchContext, name: DispatchName, file: DispatchFile) {
    this.#context = context;
    this.name = name;
    this.#file = file;
  }

  /** Claims the dispatch, repairs its end where a write was cut off, and gives its envelope. @throws STORE_LOCKED */
  claim(): DispatchEnvelope {
    if (this.#writer === null) this.#context.claims.whileTaking(this.name, () => this.#beginWriting());
    return readHead(this.#file.fd, this.name.paths.file).envelope;
  }

  /**
   * Ends the writing of a claimed dispatch: its head says then how far the events reach. The claim is still to be released.
   * @throws STORE_CORRUPT where the file is not in its place, unless a write has reported that
   */
  finish(): void {
    try {
      if (this.#isReported) return;
      const writer = this.#writing(0);
      const head = readHead(this.#file.fd, this.name.paths.file);
      const reach = reachOf(writer);
      if (head.eventBytes !== reach) this.#writeHead(writer, head, head.envelope, reach);
    } finally {
      this.#writer = null;
    }
  }

  append(event: CapturedEvent): boolean {
    return this.#writing(lookEvery).append(event);
  }

  appendAll(events: readonly CapturedEvent[]): boolean {
    return this.#writing(lookEvery).appendAll(events);
  }

  /** Changes the envelope and gives it. One that ends the dispatch also writes how far its events reach. */
  update(updates: EnvelopeUpdates): DispatchEnvelope {
    const writer = this.#writing(0);
    const head = readHead(this.#file.fd, this.name.paths.file);
    const given = Object.entries(updates).filter(([, value]) => value !== undefined);
    // A copy: nobody else holds what is returned.
    const changed = copyOf({ ...head.envelope, ...Object.fromEntries(given) });
    const reach = changed.status === 'running' ? head.eventBytes : reachOf(writer);
    this.#writeHead(writer, head, changed, reach);
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

  /** Removes the file, and releases the claim; the handle must be closed then. @throws STORE_LOCKED */
  remove(): void {
    const { claims, sync } = this.#context;
    const { file, folder } = this.name.paths;
    claims.whileTaking(this.name, () => {
      if (orMissing(() => rmSync(file)) === null) throw this.#notFound();
    });
    this.#writer = null;
    claims.release(this.name);
    if (sync) syncFolder(folder);
  }

  /** Gives the file back. A claim is kept. */
  close(): void {
    closeSync(this.#file.fd);
  }

  /** @throws STORE_LOCKED where the dispatch is not claimed */
  #writing(longestUnseen: number): AppendWriter {
    if (this.#writer === null) {
      if (this.#context.claims.has(this.name)) return this.#beginWriting();
      this.assertThere();
      throw this.#context.claims.missing(this.name);
    }
    const now = performance.now();
    if (now - this.#lookedAt >= longestUnseen) {
      this.#isReported = true;
      assertInPlace(this.#file, this.name, this.#writer.range.end);
      this.#isReported = false;
      this.#lookedAt = now;
    }
    return this.#writer;
  }

  #beginWriting(): AppendWriter {
    const { sync, onRepair } = this.#context;
    const { taskDir, dispatchId, paths } = this.name;
    rmSync(paths.temporary, { force: true });
    this.#reopen('write');
    const { fd } = this.#file;
    const { point, repair } = prepareAppend(fd, paths.file, readHead(fd, paths.file), sync);
    if (repair !== null) onRepair({ taskDir, dispatchId, place: paths.file, ...repair });
    this.#writer = new AppendWriter(point, sync);
    return this.#writer;
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

  #writeHead(
    writer: AppendWriter,
    { slot }: DispatchHead,
    envelope: DispatchEnvelope,
    reach: number | null,
  ): void {
    const head = encodeHeadFor(envelope, reach, slot);
    if (head === null) {
      this.#growHead(writer, encodeHead(envelope, reach));
      return;
    }
    writeFully(this.#file.fd, head, slot, 0);
    if (this.#context.sync) fdatasyncSync(this.#file.fd);
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

/** How far the events reach, counted from the bracket that opens them. */
function reachOf({ range }: AppendWriter): number {
  return range.end - range.start;
}

function copyOf(envelope: DispatchEnvelope): DispatchEnvelope {
  return JSON.parse(JSON.stringify(envelope)) as DispatchEnvelope;
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
