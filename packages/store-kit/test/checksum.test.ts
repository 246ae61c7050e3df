import { describe, expect, it } from 'vitest';
import { checksumOf, encodeChecksum, readChecksum, writeChecksum } from '../src/index.ts';

/** CRC-32 bit by bit, from its definition. */
function crcByBits(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

const parts = ['', '123456789', 'Grüße', '\u0000\u0000', 'x'.repeat(5_000)].map((text) => Buffer.from(text));

describe('a checksum', () => {
  it('is the CRC-32 of the bytes', () => {
    expect(encodeChecksum(checksumOf('123456789'))).toBe('cbf43926');
    for (const part of parts) expect(checksumOf(part)).toBe(crcByBits(part));
  });

  it('of bytes after a checksum is that of both parts together', () => {
    for (const first of parts)
      for (const second of parts)
        expect(checksumOf(second, checksumOf(first))).toBe(crcByBits(Buffer.concat([first, second])));
  });

  it.each([0, 1, 0x0000000a, 0x89abcdef, 0xffffffff])(
    '%i is written and read as eight digits',
    (checksum) => {
      const bytes = Buffer.from('<12345678>');
      writeChecksum(bytes, 1, checksum);
      expect(bytes.toString()).toBe(`<${encodeChecksum(checksum)}>`);
      expect(readChecksum(bytes, 1)).toBe(checksum);
    },
  );

  it.each(['0a1b2c3', '0A1B2C3D', '0a1b2c3g', '-a1b2c3d', ' a1b2c3d'])('is not read from %s', (text) => {
    expect(readChecksum(Buffer.from(text), 0)).toBeNull();
  });
});
