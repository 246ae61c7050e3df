import { corrupt } from '../errors.ts';
import { continuesBatch } from './event-line.ts';
import { readInto } from './file-io.ts';
import type { EventRange } from './scan-lines.ts';

const smallestWindow = 16 * 1024;
const largestWindow = 256 * 1024;
const longestLent = 256 * 1024;
const idAt = '{"id":"'.length;
const mostBytesPerUnit = 3;
const comma = 0x2c;
const separatorLength = ',\n'.length;

/**
 * Stands before a line of the file. Who appends a log once more mostly appends what stands next, so that a look at the
 * bytes there is enough, and no search is needed. Offsets count from the opening bracket: they hold when the head grows.
 */
export class LineCursor {
  #next = 1;
  #window = Buffer.alloc(0);
  #windowAt = 0;
  #windowLength = 0;
  #windowSize = smallestWindow;
  #lent: Buffer | null = null;

  /** Whether the line that stands next is this one, byte for byte; then the cursor stands behind it. */
  passes(range: EventRange, id: string, text: string): boolean {
    const length = range.end - range.start;
    if (this.#next >= length) return false;
    const line = this.#next + (this.#hasMark(range) ? 1 : 0);
    if (!this.#hasId(range, line, id)) return false;
    const { bytes, size } = this.#encode(text);
    const after = line + size;
    if (after > length) return false;
    const isLast = after === length;
    const at = this.#reach(range, line, isLast ? size : size + 1);
    if (bytes.compare(this.#window, at, at + size, 0, size) !== 0) return false;
    if (!isLast && this.#window[at + size] !== comma) return false;
    this.#next = after + separatorLength;
    return true;
  }

  /** Goes to the line at that offset. */
  moveTo(offset: number): void {
    this.#next = offset;
  }

  #hasMark(range: EventRange): boolean {
    const at = this.#reach(range, this.#next, 1);
    return continuesBatch(this.#window, at);
  }

  #hasId(range: EventRange, line: number, id: string): boolean {
    const size = idAt + id.length;
    if (line + size > range.end - range.start) return false;
    const at = this.#reach(range, line, size) + idAt;
    for (let index = 0; index < id.length; index += 1)
      if (this.#window[at + index] !== id.charCodeAt(index)) return false;
    return true;
  }

  #encode(text: string): { readonly bytes: Buffer; readonly size: number } {
    if (text.length * mostBytesPerUnit > longestLent) {
      const bytes = Buffer.from(text);
      return { bytes, size: bytes.length };
    }
    this.#lent ??= Buffer.allocUnsafeSlow(longestLent);
    return { bytes: this.#lent, size: this.#lent.write(text) };
  }

  /** Has so many bytes from an offset on in the window, and gives their place in it. */
  #reach({ fd, file, start, end }: EventRange, offset: number, size: number): number {
    const isThere = offset >= this.#windowAt && offset + size <= this.#windowAt + this.#windowLength;
    if (!isThere) {
      // After a jump the next one is likely, and what is read ahead would be read for nothing.
      const windowEnd = this.#windowAt + this.#windowLength;
      const goesOn = offset >= this.#windowAt && offset <= windowEnd + separatorLength;
      this.#windowSize = goesOn ? Math.min(this.#windowSize * 2, largestWindow) : smallestWindow;
      const length = Math.min(Math.max(this.#windowSize, size), end - start - offset);
      if (this.#window.length < length) this.#window = Buffer.allocUnsafeSlow(length);
      this.#windowAt = offset;
      this.#windowLength = readInto(fd, this.#window, 0, length, start + offset);
      if (this.#windowLength < length)
        throw corrupt(file, start + offset + this.#windowLength, 'the file became shorter');
    }
    return offset - this.#windowAt;
  }
}
