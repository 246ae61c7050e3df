import { batchMark, firstSeparator, lineSeparator } from '../disk-format.ts';

const mostBytesPerUnit = 3;
const largestShared = 4 * 1024 * 1024;

/** One buffer for the appends of all files, because a new one for each append costs more than the write. */
let shared = Buffer.allocUnsafeSlow(64 * 1024);

/** The bytes of an append. */
export interface AppendBytes {
  /** Valid until the next append to any file. */
  readonly bytes: Buffer;
  readonly length: number;
  /** The offset of each line. */
  readonly starts: readonly number[];
}

/** The bytes of lines with their separators and the closing brackets. `isFirst`: the file has no events yet. */
export function appendBytes(texts: readonly string[], isFirst: boolean, closing: string): AppendBytes {
  const bytes = bufferFor(texts, closing);
  const last = texts.length - 1;
  const starts: number[] = [];
  let length = 0;
  for (let at = 0; at <= last; at += 1) {
    length = put(bytes, length, at === 0 && isFirst ? firstSeparator : lineSeparator);
    starts.push(length);
    if (at < last) length = put(bytes, length, batchMark);
    length += bytes.write(texts[at] as string, length);
  }
  return { bytes, length: put(bytes, length, closing), starts };
}

function bufferFor(texts: readonly string[], closing: string): Buffer {
  const around = lineSeparator.length + batchMark.length;
  let units = closing.length;
  for (const text of texts) units += text.length + around;
  const needed = units * mostBytesPerUnit;
  if (needed > largestShared) {
    const exact = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + around, closing.length);
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
