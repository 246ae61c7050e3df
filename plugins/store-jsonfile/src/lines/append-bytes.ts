import { batchMark } from './event-line.ts';

const separator = ',\n';
const firstSeparator = '\n';
const mostBytesPerUnit = 3;
const largestKept = 4 * 1024 * 1024;

/** Appends of like size take the same buffer again and again. */
let kept = Buffer.allocUnsafeSlow(64 * 1024);

/** What an append writes. */
export interface AppendBytes {
  /** Only lent, until the next append of any file. */
  readonly bytes: Buffer;
  readonly length: number;
  /** Where each of the lines begins. */
  readonly starts: readonly number[];
}

/** Lines as they are written behind others, or as the first ones of a file, with the closing brackets. */
export function appendBytes(texts: readonly string[], isFirst: boolean, closing: string): AppendBytes {
  const bytes = roomFor(texts, closing);
  const last = texts.length - 1;
  const starts: number[] = [];
  let length = 0;
  for (let at = 0; at <= last; at += 1) {
    length = put(bytes, length, at === 0 && isFirst ? firstSeparator : separator);
    starts.push(length);
    if (at < last) length = put(bytes, length, batchMark);
    length += bytes.write(texts[at] as string, length);
  }
  return { bytes, length: put(bytes, length, closing), starts };
}

function roomFor(texts: readonly string[], closing: string): Buffer {
  const around = separator.length + batchMark.length;
  let units = closing.length;
  for (const text of texts) units += text.length + around;
  const room = units * mostBytesPerUnit;
  if (room > largestKept) {
    const exact = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + around, closing.length);
    return Buffer.allocUnsafeSlow(exact);
  }
  if (kept.length < room) kept = Buffer.allocUnsafeSlow(Math.min(room * 2, largestKept));
  return kept;
}

/** Puts a few ASCII characters; a call of `write` costs more than they do. */
function put(bytes: Buffer, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[at + index] = text.charCodeAt(index);
  return at + text.length;
}
