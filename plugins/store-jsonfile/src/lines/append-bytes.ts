import { checksumLength, checksumOf, writeChecksum } from '@hansard/store-kit';
import {
  batchMark,
  checksumEnd,
  checksumKey,
  closings,
  firstSeparator,
  type IdOrder,
  lineSeparator,
} from '../disk-format.ts';

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
  /** Valid until the next append to any file. They begin at `from`: making a view of them costs a tenth of an append. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly length: number;
  /** The checksum of the last line. */
  readonly crc: number;
}

/** The bytes of several lines. */
export interface LinesBytes extends AppendBytes {
  /** The offset of each line, counted from `from`. */
  readonly starts: readonly number[];
}

/**
 * The bytes of lines with their separators, checksums and the closing brackets. `previous` is the checksum
 * before them, `isFirst`: the file has no events yet. The lines are one batch, unless `marks` says which lines continue one.
 */
export function appendBytes(
  texts: readonly string[],
  previous: number,
  isFirst: boolean,
  closing: string,
  marks: readonly boolean[] | null = null,
): LinesBytes {
  const all = bufferFor(texts, closing);
  const last = texts.length - 1;
  const starts: number[] = [];
  let crc = previous;
  let checkedTo = before;
  if (!isFirst) {
    checkedTo = 0;
    writeChecksum(all, 0, previous);
    put(all, checksumLength, checksumEnd);
  }
  let length = before;
  for (let at = 0; at <= last; at += 1) {
    length = put(all, length, at === 0 && isFirst ? firstSeparator : lineSeparator);
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
  return { bytes: all, from: before, length: length - before, starts, crc };
}

/** The bytes before and after the text of an event in a file with events. */
const beforeText = before + lineSeparator.length;
const afterText = checksumKey.length + checksumLength + checksumEnd.length;

/** What is around the text and the checksums of a line: bytes, because they are copied faster than the characters of a text. */
const [separatorBytes, keyBytes] = [asciiOf(checksumEnd + lineSeparator), asciiOf(checksumKey)];
const endBytes = {
  growing: asciiOf(checksumEnd + closings.growing),
  mixed: asciiOf(checksumEnd + closings.mixed),
} as const;

/**
 * The same for one line of a file that has events. It needs no lists, and it is the append of nearly every event.
 * @returns null if the text is too long for the shared buffer
 */
export function appendLine(text: string, previous: number, idOrder: IdOrder): AppendBytes | null {
  const ending = endBytes[idOrder];
  if (beforeText + text.length * mostBytesPerUnit + afterText + ending.length > shared.length) return null;
  const bytes = shared;
  writeChecksum(bytes, 0, previous);
  copyInto(bytes, checksumLength, separatorBytes);
  // Without the closing brace, which follows the checksum.
  const textEnd = beforeText + bytes.write(text, beforeText) - 1;
  const end = copyInto(bytes, textEnd, keyBytes);
  const crc = checksumOf(new Uint8Array(bytes.buffer, 0, end), previous);
  writeChecksum(bytes, end, crc);
  const length = copyInto(bytes, end + checksumLength, ending) - before;
  return { bytes, from: before, length, crc };
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

function copyInto(bytes: Buffer, at: number, copied: Uint8Array): number {
  for (let index = 0; index < copied.length; index += 1) bytes[at + index] = copied[index] as number;
  return at + copied.length;
}

function asciiOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
