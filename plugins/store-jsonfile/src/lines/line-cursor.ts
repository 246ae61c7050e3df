import { lineSeparator } from '../disk-format.ts';
import { corrupt } from '../errors.ts';
import { continuesBatch } from './event-line.ts';
import type { EventRange } from './scan-lines.ts';

const smallestWindow = 16 * 1024;
const largestWindow = 256 * 1024;
const longestShared = 256 * 1024;
const idAt = '{"id":"'.length;
const mostBytesPerUnit = 3;
const comma = 0x2c;

/**
 * The line of the file that a repeated append is expected to repeat next. A program that appends a log again sends its events
 * in the stored order, so comparing bytes replaces a search. Offsets count from the opening bracket, so they stay valid when
 * the head grows.
 */
export class LineCursor {
  #next = 1;
  #window = Buffer.alloc(0);
  #windowAt = 0;
  #windowLength = 0;
  #windowSize = smallestWindow;
  #encoded: Buffer | null = null;

  /** Whether the next line is this one, byte for byte. If so, the cursor moves to the line after it. */
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
    this.#next = after + lineSeparator.length;
    return true;
  }

  /** Moves the cursor to the line at an offset. */
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
    if (text.length * mostBytesPerUnit > longestShared) {
      const bytes = Buffer.from(text);
      return { bytes, size: bytes.length };
    }
    this.#encoded ??= Buffer.allocUnsafeSlow(longestShared);
    return { bytes: this.#encoded, size: this.#encoded.write(text) };
  }

  /** Reads `size` bytes at an offset into the window, unless they are in it. @returns their place in the window */
  #reach({ file, start, end }: EventRange, offset: number, size: number): number {
    const isLoaded = offset >= this.#windowAt && offset + size <= this.#windowAt + this.#windowLength;
    if (!isLoaded) {
      // After a jump another jump is likely, so little is read ahead.
      const windowEnd = this.#windowAt + this.#windowLength;
      const isSequential = offset >= this.#windowAt && offset <= windowEnd + lineSeparator.length;
      this.#windowSize = isSequential ? Math.min(this.#windowSize * 2, largestWindow) : smallestWindow;
      const length = Math.min(Math.max(this.#windowSize, size), end - start - offset);
      if (this.#window.length < length) this.#window = Buffer.allocUnsafeSlow(length);
      this.#windowAt = offset;
      this.#windowLength = file.readInto(this.#window, 0, length, start + offset);
      if (this.#windowLength < length)
        throw corrupt(file.path, start + offset + this.#windowLength, 'the file became shorter');
    }
    return offset - this.#windowAt;
  }
}
