import { lineSeparator } from '../disk-format.ts';
import { damagedLine } from './damaged-line.ts';
import { checksumSize, continuesBatch, endsWithChecksum, endsWithComma } from './event-line.ts';
import type { EventRange } from './event-range.ts';
import type { LinePlace } from './position-index.ts';

const smallestWindow = 16 * 1024;
const largestWindow = 256 * 1024;
const longestShared = 256 * 1024;
const idAt = '{"id":"'.length;
const mostBytesPerUnit = 3;

/**
 * The line of the file that a repeated append is expected to repeat next. A program that appends a log again sends its events
 * in the stored order, so comparing bytes replaces a search. Offsets count from the opening bracket, so they stay valid when
 * the head grows.
 */
export class LineCursor {
  #next = 1;
  #position = 0;
  #window = Buffer.alloc(0);
  #windowAt = 0;
  #windowLength = 0;
  #windowSize = smallestWindow;
  #encoded: Buffer | null = null;

  /** The position of the next line if it is this one, byte for byte: the cursor then moves to the line after it. Otherwise null. */
  pass(range: EventRange, id: string, text: string): number | null {
    const next = this.#afterSame(range, id, text);
    if (next === null) return null;
    this.#next = next;
    this.#position += 1;
    return this.#position - 1;
  }

  /** Where the line after the next one begins; null if the next one is not this one. */
  #afterSame(range: EventRange, id: string, text: string): number | null {
    const length = range.end - range.start;
    if (this.#next >= length) return null;
    const line = this.#next + (this.#hasMark(range) ? 1 : 0);
    if (!this.#hasId(range, line, id)) return null;
    const { bytes, size: encoded } = this.#encode(text);
    // The closing brace follows the checksum.
    const size = encoded - 1;
    const after = line + size + checksumSize;
    if (after > length) return null;
    const isLast = after === length;
    const at = this.#reach(range, line, after - line + (isLast ? 0 : 1));
    if (bytes.compare(this.#window, at, at + size, 0, size) !== 0) return null;
    const end = at + size + checksumSize;
    if (!endsWithChecksum(this.#window, end)) return null;
    if (!isLast && !endsWithComma(this.#window, end + 1)) return null;
    return after + lineSeparator.length;
  }

  moveTo({ offset, position }: LinePlace): void {
    this.#next = offset;
    this.#position = position;
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
  #reach(range: EventRange, offset: number, size: number): number {
    const { file, start, end } = range;
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
        throw damagedLine(range, start + offset + this.#windowLength, 'the file became shorter');
    }
    return offset - this.#windowAt;
  }
}
