import { checksumLength, checksumOf, readChecksum } from '@hansard/store-kit';
import { checksumEnd, firstSeparator, lineSeparator } from '../disk-format.ts';
import {
  checksumSize,
  closeText,
  continuesBatch,
  endsWithChecksum,
  endsWithComma,
  hasText,
} from './event-line.ts';
import { damagedLine } from './inspect-lines.ts';
import type { EventRange, OpenFile } from './open-file.ts';

const newline = 0x0a;
const smallestChunk = 16 * 1024;
const largestChunk = 1024 * 1024;
/** The bytes from the digits of a checksum to the end of its event. */
export const checksumTail = checksumLength + checksumEnd.length;

/** A line of a scan. The object is valid during the call. */
export interface ScannedLine {
  /** The text of the event is from `start` to before `end` in these bytes. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** The offset of the line in the file, and that of the line after it. */
  readonly offset: number;
  readonly next: number;
  /** Whether more lines of the same batch follow. */
  readonly continues: boolean;
}

/** The result false ends the scan. */
export type LineVisitor = (line: ScannedLine) => boolean;

/**
 * Visits the lines from `from`, the offset of a line, to the end of the range. Each line is checked before it is visited; the
 * first one also against the checksum of the line before it.
 * @throws STORE_CORRUPT
 */
export function scanLines(range: EventRange, from: number, visit: LineVisitor): void {
  const { file, end } = range;
  if (from >= end) return;
  let { offset, crc } = checksumBefore(range, from);
  let lineAt = from;
  let buffer = Buffer.alloc(0);
  let kept = buffer;
  for (let chunk = smallestChunk; lineAt < end; chunk = Math.min(chunk * 2, largestChunk)) {
    const size = Math.min(Math.max(chunk, kept.length * 2), end - offset);
    // One buffer for all chunks, because new ones would be as much garbage as the file is long.
    if (buffer.length < size) buffer = Buffer.allocUnsafeSlow(size);
    const bytes = buffer.subarray(0, size);
    kept.copy(bytes);
    const count = file.readInto(bytes, kept.length, size - kept.length, offset + kept.length);
    if (kept.length + count < size)
      throw damagedLine(range, offset + kept.length + count, 'the file became shorter');
    const isLast = offset + size === end;
    const linesEnd = isLast ? size : bytes.lastIndexOf(newline) + 1;
    let keepFrom = linesEnd;
    if (offset + linesEnd > lineAt) {
      const lines = { bytes, offset, from: lineAt - offset, to: linesEnd, isLast, crc };
      if (!visitLines(range, lines, visit)) return;
      lineAt = offset + linesEnd;
      if (!isLast) {
        keepFrom = linesEnd - lineSeparator.length - checksumTail;
        crc = readChecksum(bytes, keepFrom) ?? 0;
      }
    } else keepFrom = 0;
    if (isLast) return;
    kept = bytes.subarray(keepFrom);
    offset += keepFrom;
  }
}

/** Complete lines in memory. */
interface Lines {
  readonly bytes: Buffer;
  /** The offset of the bytes in the file. */
  readonly offset: number;
  /** The lines are from here to before `to`. */
  readonly from: number;
  readonly to: number;
  /** Whether the last line of the range is among them. It has no comma and no line end. */
  readonly isLast: boolean;
  /** The checksum before the first byte. */
  readonly crc: number;
}

/** @returns false if the visitor ended the scan */
function visitLines(range: EventRange, lines: Lines, visit: LineVisitor): boolean {
  const { bytes, offset, from, to, isLast } = lines;
  // As a rule all are whole, which one call finds out.
  const areWhole = areAllWhole(lines);
  let crc = lines.crc;
  let checkedTo = 0;
  for (let start = from; start < to; ) {
    const lineEnd = bytes.indexOf(newline, start);
    const isEnd = lineEnd < 0 || lineEnd >= to;
    const next = isEnd ? to + (isLast ? lineSeparator.length : 0) : lineEnd + 1;
    let end = isEnd ? to : lineEnd;
    const hasComma = endsWithComma(bytes, end);
    if (hasComma) end -= 1;
    let isWhole = hasComma !== (isEnd && isLast);
    if (!areWhole && isWhole) {
      isWhole = endsWithChecksum(bytes, end);
      const digits = end - checksumTail;
      if (isWhole) {
        crc = checksumOf(bytes.subarray(checkedTo, digits), crc);
        checkedTo = digits;
        isWhole = readChecksum(bytes, digits) === crc;
      }
    }
    if (!isWhole) throw damagedLine(range, offset + start, 'this line is not the one that was written here');
    end = closeText(bytes, end - checksumSize);
    const continues = continuesBatch(bytes, start);
    const line = {
      bytes,
      start: continues ? start + 1 : start,
      end,
      offset: offset + start,
      next: offset + next,
      continues,
    };
    if (!visit(line)) return false;
    start = isEnd ? to : next;
  }
  return true;
}

function areAllWhole({ bytes, to, isLast, crc }: Lines): boolean {
  const end = isLast ? to : to - lineSeparator.length;
  const digits = end - checksumTail;
  return (
    endsWithChecksum(bytes, end) && checksumOf(bytes.subarray(0, digits), crc) === readChecksum(bytes, digits)
  );
}

/** The place of the checksum before a line, and its value. @throws STORE_CORRUPT */
function checksumBefore(range: EventRange, from: number): { readonly offset: number; readonly crc: number } {
  const { file, start, seed } = range;
  if (from === start + firstSeparator.length) return { offset: start, crc: seed };
  const offset = from - lineSeparator.length - checksumTail;
  const bytes = offset < start ? null : file.read(offset, from);
  const crc = bytes === null ? null : readChecksum(bytes, 0);
  if (bytes === null || crc === null || !hasText(bytes, checksumLength, checksumEnd + lineSeparator))
    throw damagedLine(range, from, 'no event ends before this line');
  return { offset, crc };
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
