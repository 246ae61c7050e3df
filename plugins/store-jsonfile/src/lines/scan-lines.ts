import { corrupt } from '../errors.ts';
import type { OpenFile } from './open-file.ts';

const newline = 0x0a;
const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;

/** The part of an open file that consists of complete event lines. */
export interface EventRange {
  readonly file: OpenFile;
  /** The offset after the opening bracket; the first line begins one byte later. */
  readonly start: number;
  /** The offset after the last event; equal to `start` if there is none. */
  readonly end: number;
}

/** Receives one line: `bytes` from `start` to before `end`, valid during the call. The result false ends the scan. */
export type LineVisitor = (
  bytes: Buffer,
  start: number,
  end: number,
  offset: number,
  isLast: boolean,
) => boolean;

/** Visits the lines from `from`, the offset of a line, to the end of the range. */
export function scanLines({ file, end }: EventRange, from: number, visit: LineVisitor): void {
  let offset = from;
  let buffer = Buffer.alloc(0);
  let kept = buffer;
  for (let chunk = smallestChunk; offset < end; chunk = Math.min(chunk * 2, largestChunk)) {
    const size = Math.min(Math.max(chunk, kept.length * 2), end - offset);
    // One buffer for all chunks, because new ones would be as much garbage as the file is long.
    if (buffer.length < size) buffer = Buffer.allocUnsafeSlow(size);
    const bytes = buffer.subarray(0, size);
    kept.copy(bytes);
    const count = file.readInto(bytes, kept.length, size - kept.length, offset + kept.length);
    if (kept.length + count < size)
      throw corrupt(file.path, offset + kept.length + count, 'the file became shorter');
    let start = 0;
    for (let lineEnd = bytes.indexOf(newline); lineEnd >= 0; lineEnd = bytes.indexOf(newline, start)) {
      if (!visit(bytes, start, lineEnd, offset + start, false)) return;
      start = lineEnd + 1;
    }
    if (offset + size === end) {
      if (start < size) visit(bytes, start, size, offset + start, true);
      return;
    }
    kept = bytes.subarray(start);
    offset += start;
  }
}

/** The offset of the first of the last `count` lines; that of the first line if there are fewer. */
export function findLastLines({ file, start, end }: EventRange, count: number): number {
  const first = start + 1;
  let remaining = count;
  let position = end;
  for (let size = smallestChunk; position > first; size = Math.min(size * 2, largestChunk)) {
    const from = Math.max(first, position - size);
    const bytes = file.read(from, position);
    for (let at = bytes.lastIndexOf(newline); at >= 0; at = lastNewlineBefore(bytes, at)) {
      remaining -= 1;
      if (remaining === 0) return from + at + 1;
    }
    position = from;
  }
  return first;
}

/** The offset of the line that ends before `end`, but never less than `floor`. */
export function findLineStart(file: OpenFile, floor: number, end: number): number {
  let position = end;
  for (let size = smallestChunk; position > floor; size = Math.min(size * 2, largestChunk)) {
    const from = Math.max(floor, position - size);
    const at = file.read(from, position).lastIndexOf(newline);
    if (at >= 0) return from + at + 1;
    position = from;
  }
  return floor;
}

function lastNewlineBefore(bytes: Buffer, at: number): number {
  return at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1);
}
