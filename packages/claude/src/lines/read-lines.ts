import { isUtf8 } from 'node:buffer';
import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
// Zstandard is absent before Node 22.15 and in 23.0 to 23.7, so its names cannot be imported one by one.
import * as zlib from 'node:zlib';
import { formatErrors } from '@hansard/events';

type Utf16 = 'utf-16le' | 'utf-16be';

/** The most bytes that a compressed file may hold. Longer ones are most likely made to exhaust a machine. */
const mostUnpacked = 4 * 1024 ** 3;

/** Bytes that are enough to know an encoding. */
const bytesOfEncoding = 16;

/** How much of a compressed file is decompressed to see its start. */
export const bytesOfPackedStart = 64 * 1024;

type Packing = 'gzip' | 'zstd';

/** How the bytes of a file are compressed. Null: they are not. */
function packingOf(start: Uint8Array): Packing | null {
  const [first, second, third, fourth] = start;
  if (first === 0x1f && second === 0x8b) return 'gzip';
  return first === 0x28 && second === 0xb5 && third === 0x2f && fourth === 0xfd ? 'zstd' : null;
}

export function isPacked(start: Uint8Array): boolean {
  return packingOf(start) !== null;
}

/** Throws where this Node cannot read a compression. */
function assertUnpackable(packing: Packing): void {
  if (packing === 'zstd' && zlib.zstdDecompressSync === undefined)
    throw new Error(
      `it is compressed with Zstandard, which Node ${process.version} cannot read; use Node 22.15, 23.8 or a newer one`,
    );
}

/**
 * The encoding of text of two bytes a character, by its byte order mark or, in a text that begins with at least four ASCII
 * characters, by their zero bytes. Null for any other text.
 */
function utf16Of(start: Uint8Array): Utf16 | null {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (start.length < 8) return null;
  const ascii = (at: number) => {
    const byte = start[at] ?? 0;
    return byte === 0x09 || byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte < 0x7f);
  };
  const pairs = [0, 2, 4, 6];
  if (pairs.every((at) => ascii(at) && start[at + 1] === 0)) return 'utf-16le';
  return pairs.every((at) => start[at] === 0 && ascii(at + 1)) ? 'utf-16be' : null;
}

/** The bytes of a file as UTF-8, decompressed. `isWhole`: false if the bytes are only the start of the file. */
export function unpack(bytes: Buffer, { isWhole, most }: { isWhole: boolean; most: number }): Buffer {
  const packing = packingOf(bytes);
  const plain = packing === null ? bytes : inflate(bytes, packing, isWhole, most);
  const encoding = utf16Of(plain.subarray(0, bytesOfEncoding));
  return encoding === null ? plain : Buffer.from(new TextDecoder(encoding).decode(plain, { stream: true }));
}

/** Of a start only what a few kilobytes hold, which is at most a thousand times as much. */
function inflate(bytes: Buffer, packing: Packing, isWhole: boolean, most: number): Buffer {
  assertUnpackable(packing);
  const isGzip = packing === 'gzip';
  const expand = isGzip ? zlib.gunzipSync : zlib.zstdDecompressSync;
  if (isWhole) return expand(bytes, { maxOutputLength: most });
  const { Z_SYNC_FLUSH, ZSTD_e_flush } = zlib.constants;
  try {
    const start = bytes.subarray(0, bytesOfPackedStart);
    return expand(start, { finishFlush: isGzip ? Z_SYNC_FLUSH : ZSTD_e_flush }).subarray(0, most);
  } catch {
    // It begins like a compressed file and is none.
    return bytes;
  }
}

/** The bytes of a compressed file, decompressed. */
async function* unpacked(path: string, packing: Packing): AsyncGenerator<Buffer> {
  assertUnpackable(packing);
  const unzip = packing === 'gzip' ? zlib.createGunzip() : zlib.createZstdDecompress();
  pipeline(createReadStream(path), unzip, () => {});
  let bytes = 0;
  for await (const chunk of unzip as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostUnpacked) throw new Error(`it holds more than ${mostUnpacked} bytes, decompressed`);
    yield chunk;
  }
}

/** Chunks of text as UTF-8. Half a character at the end of a file is left out: the rest of it may follow. */
async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of chunks) {
    if (decoder === undefined) {
      const encoding = utf16Of(chunk.subarray(0, bytesOfEncoding));
      decoder = encoding === null ? null : new TextDecoder(encoding);
    }
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}

const checksumChunk = 1024 * 1024;

/** The checksum of a file from its first byte to the last one that was read. */
export class PrefixChecksum {
  /** How many bytes it covers. */
  bytes: number;
  value: number;

  constructor(bytes = 0, value = 0) {
    this.bytes = bytes;
    this.value = value;
  }

  /** Adds the bytes of a chunk, which begins at `offset`, that it does not cover yet. */
  add(chunk: Buffer, offset: number): void {
    const known = this.bytes - offset;
    if (known >= chunk.length) return;
    this.value = zlib.crc32(chunk.subarray(Math.max(0, known)), this.value);
    this.bytes = offset + chunk.length;
  }

  /** Whether a file still begins with the bytes that the checksum covers. */
  isStartOf(path: string): boolean {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.allocUnsafeSlow(Math.min(checksumChunk, Math.max(1, this.bytes)));
      let value = 0;
      for (let position = 0; position < this.bytes; ) {
        const count = readSync(file, buffer, 0, Math.min(buffer.length, this.bytes - position), position);
        if (count === 0) return false;
        value = zlib.crc32(buffer.subarray(0, count), value);
        position += count;
      }
      return value === this.value;
    } finally {
      closeSync(file);
    }
  }
}

export interface FileLine {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its end; only the start of a line that is too long. */
  readonly text: string;
  /** The length of the whole line in bytes. */
  readonly bytes: number;
  readonly isTooLong: boolean;
  /** Whether the line ends with a line feed. If not, the file may end in the middle of a record. */
  readonly isEnded: boolean;
  /** Whether the bytes are UTF-8. If not, the text has U+FFFD for invalid bytes. */
  readonly isUtf8: boolean;
}

const newline = 0x0a;
const keptOfTooLong = 16 * 1024;
const nothing = Buffer.alloc(0);
const chunkSize = 256 * 1024;
/** The longest line whose bytes are used again. */
const longestKept = 8 * 1024 * 1024;

/** The longest line that is read: 100 MB. */
const longestLine = 100 * 1024 * 1024;

/** Where to begin to read a file: the start of a line. */
export interface ReadFrom {
  /** Bytes before the line. */
  readonly offset: number;
  /** The number of lines before it. */
  readonly line: number;
  /** Gets every byte that is read. */
  readonly checksum?: PrefixChecksum | undefined;
}

const wholeFile: ReadFrom = { offset: 0, line: 0 };

/**
 * Reads a file line by line, with never more than a line or 256 KB in memory. Only a line feed ends a line: U+2028 and a
 * lone carriage return may occur inside a JSON string. @throws FORMAT_UNREADABLE
 */
export async function* readLines(path: string, longest?: number): AsyncGenerator<FileLine> {
  for await (const lines of readLineGroups(path, wholeFile, longest)) for (const line of lines) yield line;
}

/** Like `readLines`, in groups of lines from the same chunk of the file, because an asynchronous step per line is slow. */
export async function* readLineGroups(
  path: string,
  { offset, line, checksum }: ReadFrom = wholeFile,
  longest = longestLine,
): AsyncGenerator<FileLine[]> {
  const collector = new LineCollector(longest);
  let number = line;
  let position = offset;
  // A file is continued only where its bytes are its text.
  const chunks = offset === 0 ? asUtf8(chunksOf(path, 0)) : chunksOf(path, offset);
  for await (const chunk of chunks) {
    checksum?.add(chunk, position);
    position += chunk.length;
    const lines: FileLine[] = [];
    const isSound = isUtf8(chunk.subarray(chunk.indexOf(newline) + 1, chunk.lastIndexOf(newline) + 1));
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const bytes = chunk.subarray(start, end);
      number += 1;
      if (collector.bytes === 0 && bytes.length <= longest)
        lines.push(lineOf(bytes, number, isSound && start > 0));
      else {
        collector.add(bytes);
        lines.push(collector.take(number, true));
      }
      start = end + 1;
    }
    collector.add(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (collector.bytes > 0) yield [collector.take(number + 1, false)];
}

/**
 * The file in chunks. Each chunk is valid until the next one is read. Reads are synchronous, because a read from the page
 * cache is faster than a round trip to the thread pool; other tasks run between two reads.
 */
async function* chunksOf(path: string, offset: number): AsyncGenerator<Buffer> {
  let file: number | undefined;
  try {
    // Without O_NONBLOCK, a pipe without a writer would block the process, and no signal could end it.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    if (!stats.isFile() && !stats.isDirectory())
      throw new Error('it is not a regular file, and a log is read more than once; copy it to a file');
    const buffer = Buffer.allocUnsafeSlow(chunkSize);
    for (let position = offset; ; ) {
      const bytesRead = readSync(file, buffer, 0, chunkSize, position);
      if (bytesRead === 0) return;
      const packing = position === 0 ? packingOf(buffer.subarray(0, bytesRead)) : null;
      if (packing !== null) {
        yield* unpacked(path, packing);
        return;
      }
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
      await nextTurn();
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'the file does not exist' : code === 'EISDIR' ? 'it is a folder' : message;
    throw formatErrors.error('FORMAT_UNREADABLE', `Can't read ${path}: ${reason}.`, {
      cause,
      details: { file: path },
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A line within one chunk. */
function lineOf(bytes: Buffer, number: number, isSound: boolean): FileLine {
  return {
    number,
    text: bytes.toString('utf8'),
    bytes: bytes.length,
    isTooLong: false,
    isEnded: true,
    isUtf8: isSound || isUtf8(bytes),
  };
}

/**
 * Collects a line that spans several chunks, or is too long. The next line is collected in the same bytes: bytes of their own for each long line
 * would be resident until they are collected.
 */
class LineCollector {
  bytes = 0;
  readonly #longest: number;
  #collected = nothing;
  #length = 0;

  constructor(longest: number) {
    this.#longest = longest;
  }

  add(piece: Buffer): void {
    const wasTooLong = this.bytes > this.#longest;
    this.bytes += piece.length;
    if (wasTooLong || piece.length === 0) return;
    const length = this.#length + piece.length;
    if (length > this.#collected.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(length, Math.min(2 * this.#collected.length, this.#longest)),
      );
      this.#collected.copy(grown, 0, 0, this.#length);
      this.#collected = grown;
    }
    piece.copy(this.#collected, this.#length);
    this.#length = this.bytes > this.#longest ? Math.min(length, keptOfTooLong) : length;
  }

  /** The line. What is added next is another one. */
  take(number: number, isEnded: boolean): FileLine {
    const isTooLong = this.bytes > this.#longest;
    const line = this.#collected.subarray(0, this.#length);
    const { bytes } = this;
    this.bytes = 0;
    this.#length = 0;
    if (this.#collected.length > longestKept) this.#collected = nothing;
    return {
      number,
      text: line.toString('utf8'),
      bytes,
      isTooLong,
      isEnded,
      isUtf8: isTooLong || isUtf8(line),
    };
  }
}
