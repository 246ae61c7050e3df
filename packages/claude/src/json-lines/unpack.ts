import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip, gunzipSync, constants as zlib } from 'node:zlib';

type Utf16 = 'utf-16le' | 'utf-16be';

/** The most bytes that a compressed file may hold. Longer ones are most likely made to exhaust a machine. */
const mostUnpacked = 4 * 1024 ** 3;

/** Bytes that are enough to know an encoding. */
const bytesOfEncoding = 16;

/** How much of a compressed file is decompressed to see its start. */
export const bytesOfPackedStart = 64 * 1024;

export function isGzip(start: Uint8Array): boolean {
  return start[0] === 0x1f && start[1] === 0x8b;
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
  const plain = isGzip(bytes) ? inflate(bytes, isWhole, most) : bytes;
  const encoding = utf16Of(plain.subarray(0, bytesOfEncoding));
  return encoding === null ? plain : Buffer.from(new TextDecoder(encoding).decode(plain, { stream: true }));
}

/** Of a start only what a few kilobytes hold, which is at most a thousand times as much. */
function inflate(bytes: Buffer, isWhole: boolean, most: number): Buffer {
  if (isWhole) return gunzipSync(bytes, { maxOutputLength: most });
  try {
    return gunzipSync(bytes.subarray(0, bytesOfPackedStart), { finishFlush: zlib.Z_SYNC_FLUSH }).subarray(
      0,
      most,
    );
  } catch {
    // It begins like a compressed file and is none.
    return bytes;
  }
}

/** The bytes of a compressed file, decompressed. */
export async function* gunzipped(path: string): AsyncGenerator<Buffer> {
  const unzip = createGunzip();
  pipeline(createReadStream(path), unzip, () => {});
  let bytes = 0;
  for await (const chunk of unzip as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostUnpacked) throw new Error(`it holds more than ${mostUnpacked} bytes, decompressed`);
    yield chunk;
  }
}

/** Chunks of text as UTF-8. Half a character at the end of a file is left out: the rest of it may follow. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of chunks) {
    if (decoder === undefined) {
      const encoding = utf16Of(chunk.subarray(0, bytesOfEncoding));
      decoder = encoding === null ? null : new TextDecoder(encoding);
    }
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}
