import { storeErrors } from '@hansard/provider';
import { dispatchNotFound, orMissing, readChecksum } from '@hansard/store-kit';
import type { Files } from '../files.ts';
import { readHead } from '../head/dispatch-head.ts';
import type { EventRange } from '../lines/open-file.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { checksumTail } from '../lines/scan-lines.ts';
import { type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { findTail } from './file-tail.ts';

/** A file that changes during each of this number of reads is not read again. */
const mostAttempts = 100;

/** Reads a range of events. The positions that earlier reads of the same file found make later ones faster. */
export type ReadWork<T> = (range: EventRange, positions: PositionIndex) => T;

/** A dispatch that is open for reading. Any process may write it meanwhile. */
export class DispatchReader {
  readonly #files: Files;
  readonly #name: DispatchName;
  #file: DispatchFile;
  #positions = new PositionIndex();
  /** The tail that was found complete, for the size and the time of change that the file had. */
  #known: { readonly size: number; readonly changedAt: number; readonly range: EventRange } | null = null;

  /** The last event of the range that was last read; null if its checksum is not known. */
  #last: { readonly end: number; readonly crc: number } | null = null;
  /** The file when its range was last read. */
  #seen = { size: 0, changedAt: 0 };

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT */
  static open(files: Files, name: DispatchName): DispatchReader {
    return new DispatchReader(files, name, openDispatchFile(files, name, 'read'));
  }

  private constructor(files: Files, name: DispatchName, file: DispatchFile) {
    this.#files = files;
    this.#name = name;
    this.#file = file;
  }

  /**
   * Reads events. A takeover puts a copy in the place of the file, and the owner that lost the dispatch can still write into the
   * old one. A writer whose append fails removes it, and another one can follow in its place. So what was read from a file that is no
   * longer at the path, or that has lost its last event, is read again. What is not whole is read again once, without the positions that are
   * known, and then for as long as the file changes.
   */
  read<T>(work: ReadWork<T>): T {
    for (let attempt = 1; ; attempt += 1) {
      const range = this.#range();
      let result: T;
      try {
        result = work(range, this.#positions);
      } catch (error) {
        const change = this.#change();
        if (change === 'replaced') continue;
        const isAgain = attempt === 1 || (attempt < mostAttempts && change === 'changed');
        if (!storeErrors.is(error, 'STORE_CORRUPT') || !isAgain) throw error;
        this.#positions = new PositionIndex();
        continue;
      }
      const change = this.#change();
      if (change === 'none' || (change === 'changed' && this.#stillHasLast())) return result;
    }
  }

  close(): void {
    this.#file.open.close();
  }

  /** What has happened to the file since its range was read. */
  #change(): 'none' | 'changed' | 'replaced' {
    const stats = orMissing(() => this.#files.stat(this.#name.paths.file));
    if (stats === null) return 'none';
    if (stats.ino !== this.#file.inode) return 'replaced';
    return stats.size === this.#seen.size && stats.ctimeMs === this.#seen.changedAt ? 'none' : 'changed';
  }

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
    const { taskDir, dispatchId, paths } = this.#name;
    const stats = orMissing(() => this.#files.stat(paths.file));
    if (stats === null) throw dispatchNotFound(taskDir, dispatchId);
    if (stats.ino !== this.#file.inode) this.#reopen();
    this.#seen = { size: stats.size, changedAt: stats.ctimeMs };
    const known = this.#known;
    if (known !== null && known.size === stats.size && known.changedAt === stats.ctimeMs) return known.range;
    const { open: file } = this.#file;
    const head = readHead(file);
    const { size, end, idOrder, count, crc } = findTail(file, head);
    if (!this.#stillHasLast()) this.#positions = new PositionIndex();
    this.#last = { end, crc };
    const range = { file, start: head.start, seed: head.seed, end, count };
    this.#known = idOrder === null ? null : { size, range, changedAt: stats.ctimeMs };
    return range;
  }

  /** Whether the last event of the range before exists, and so, by its checksum, every event before it. */
  #stillHasLast(): boolean {
    if (this.#last === null || this.#last.crc === 0) return true;
    const { end, crc } = this.#last;
    const tail = this.#file.open.read(end - checksumTail, end);
    return tail.length === checksumTail && readChecksum(tail, 0) === crc;
  }

  #reopen(): void {
    const file = openDispatchFile(this.#files, this.#name, 'read');
    if (file.inode !== this.#file.inode) this.#positions = new PositionIndex();
    this.#known = null;
    this.#last = null;
    this.#file.open.close();
    this.#file = file;
  }
}
