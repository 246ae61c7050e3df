import { closeSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const chunkSize = 1024 * 1024;

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
    this.value = crc32(chunk.subarray(Math.max(0, known)), this.value);
    this.bytes = offset + chunk.length;
  }

  /** Whether a file still begins with the bytes that the checksum covers. */
  isStartOf(path: string): boolean {
    const file = openSync(path, 'r');
    try {
      const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, Math.max(1, this.bytes)));
      let value = 0;
      for (let position = 0; position < this.bytes; ) {
        const count = readSync(file, buffer, 0, Math.min(buffer.length, this.bytes - position), position);
        if (count === 0) return false;
        value = crc32(buffer.subarray(0, count), value);
        position += count;
      }
      return value === this.value;
    } finally {
      closeSync(file);
    }
  }
}
