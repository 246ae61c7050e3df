import { checksumLength, checksumOf, writeChecksum } from '@hansard/store-kit';
import { batchMark, checksumEnd, checksumKey, firstSeparator, lineSeparator } from '../disk-format.ts';

const mostBytesPerUnit = 3;
const largestShared = 4 * 1024 * 1024;
/** The checksum of the event before, and what follows it. The next checksum begins with these bytes. */
const before = checksumLength + checksumEnd.length;
/** The bytes of a line beside the text of its event. */
const around =
  lineSeparator.length + batchMark.length + checksumKey.length + checksumLength + checksumEnd.length;

/** One buffer for the appends of all files, because a new one for each append costs more than the write. */
let shared = Buffer.allocUnsafeSlow(64 * 1024);

/** The bytes of an append. */
export interface AppendBytes {
  /** Valid until the next append to any file. */
  readonly bytes: Buffer;
  readonly length: number;
  /** The offset of each line. */
  readonly starts: readonly number[];
  /** The checksum of the last line. */
  readonly crc: number;
}

/**
 * The bytes of lines with their separators, checksums and the closing brackets. `previous` is the checksum of the event
 * before them; null if the file has no events yet. The lines are one batch, unless `marks` says which lines continue one.
 */
export function appendBytes(
  texts: readonly string[],
  previous: number | null,
  closing: string,
  marks: readonly boolean[] | null = null,
): AppendBytes {
  const all = bufferFor(texts, closing);
  const last = texts.length - 1;
  const starts: number[] = [];
  let crc = previous ?? 0;
  let checkedTo = before;
  if (previous !== null) {
    checkedTo = 0;
    writeChecksum(all, 0, previous);
    put(all, checksumLength, checksumEnd);
  }
  let length = before;
  for (let at = 0; at <= last; at += 1) {
    length = put(all, length, at === 0 && previous === null ? firstSeparator : lineSeparator);
    starts.push(length - before);
    if (marks === null ? at < last : marks[at]) length = put(all, length, batchMark);
    // Without the closing brace, which follows the checksum.
    length += all.write(texts[at] as string, length) - 1;
    length = put(all, length, checksumKey);
    crc = checksumOf(new Uint8Array(all.buffer, checkedTo, length - checkedTo), crc);
    checkedTo = length;
    writeChecksum(all, length, crc);
    length = put(all, length + checksumLength, checksumEnd);
  }
  length = put(all, length, closing);
  return { bytes: all.subarray(before), length: length - before, starts, crc };
}

function bufferFor(texts: readonly string[], closing: string): Buffer {
  let units = before + closing.length;
  for (const text of texts) units += text.length + around;
  const needed = units * mostBytesPerUnit;
  if (needed > largestShared) {
    const exact = texts.reduce(
      (sum, text) => sum + Buffer.byteLength(text) + around,
      before + closing.length,
    );
    return Buffer.allocUnsafeSlow(exact);
  }
  if (shared.length < needed) shared = Buffer.allocUnsafeSlow(Math.min(needed * 2, largestShared));
  return shared;
}

/** Puts a few ASCII characters, which costs less than a call of `write`. */
function put(bytes: Buffer, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}
