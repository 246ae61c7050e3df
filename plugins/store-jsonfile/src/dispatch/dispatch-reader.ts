import { dispatchNotFound, orMissing } from '@hansard/store-kit';
import type { Files } from '../files.ts';
import { readHead } from '../head/dispatch-head.ts';
import type { EventRange } from '../lines/event-range.ts';
import { PositionIndex } from '../lines/position-index.ts';
import { type DispatchFile, type DispatchName, openDispatchFile } from './dispatch-file.ts';
import { findTail } from './file-tail.ts';

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
   * old one. So what was read from a file that is no longer at the path is read again.
   */
  read<T>(work: ReadWork<T>): T {
    for (;;) {
      const range = this.#range();
      let result: T;
      try {
        result = work(range, this.#positions);
      } catch (error) {
        if (this.#isReplaced()) continue;
        throw error;
      }
      if (!this.#isReplaced()) return result;
    }
  }

  close(): void {
    this.#file.open.close();
  }

  #isReplaced(): boolean {
    const stats = orMissing(() => this.#files.stat(this.#name.paths.file));
    return stats !== null && stats.ino !== this.#file.inode;
  }

  /** The range of the events now, including when another process has changed or replaced the file. */
  #range(): EventRange {
    const { taskDir, dispatchId, paths } = this.#name;
    const stats = orMissing(() => this.#files.stat(paths.file));
    if (stats === null) throw dispatchNotFound(taskDir, dispatchId);
    if (stats.ino !== this.#file.inode) this.#reopen();
    const known = this.#known;
    if (known !== null && known.size === stats.size && known.changedAt === stats.ctimeMs) return known.range;
    const { open: file } = this.#file;
    const head = readHead(file);
    const { size, end, idOrder, count } = findTail(file, head);
    const range = { file, start: head.start, end, count, isChecked: head.format === 2 };
    this.#known = idOrder === null ? null : { size, range, changedAt: stats.ctimeMs };
    return range;
  }

  #reopen(): void {
    const file = openDispatchFile(this.#files, this.#name, 'read');
    if (file.inode !== this.#file.inode) this.#positions = new PositionIndex();
    this.#known = null;
    this.#file.open.close();
    this.#file = file;
  }
}
