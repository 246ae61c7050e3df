import { crc32 } from 'node:zlib';
import { isSameJson } from '@hansard/events';

/** The number of characters of a checksum as text. */
export const checksumLength = 8;

/** The hexadecimal digits as character codes, by value. */
const hexDigits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/**
 * The CRC-32 (as in zlib, gzip and PNG) of stored bytes. With `previous`, the checksum of the bytes before them, it is that of
 * both: so the checksum of a record can begin with the one of the record before it, and a missing, doubled or moved record
 * shows. It detects accidents and not malice.
 */
export function checksumOf(bytes: Uint8Array | string, previous = 0): number {
  return crc32(bytes, previous);
}

/** The value from which the checksum of the first event of a dispatch starts, so that an event of another dispatch is out of place. */
export function chainStart(taskDir: string, dispatchId: string): number {
  return crc32(`${taskDir}\n${dispatchId}`);
}

/** A checksum as eight lower-case hexadecimal digits. */
export function encodeChecksum(checksum: number): string {
  return checksum.toString(16).padStart(checksumLength, '0');
}

/** Writes the text of a checksum into bytes. Without a loop, because every append does this twice. */
export function writeChecksum(bytes: Uint8Array, at: number, checksum: number): void {
  bytes[at] = hexDigits[checksum >>> 28] as number;
  bytes[at + 1] = hexDigits[(checksum >>> 24) & 0xf] as number;
  bytes[at + 2] = hexDigits[(checksum >>> 20) & 0xf] as number;
  bytes[at + 3] = hexDigits[(checksum >>> 16) & 0xf] as number;
  bytes[at + 4] = hexDigits[(checksum >>> 12) & 0xf] as number;
  bytes[at + 5] = hexDigits[(checksum >>> 8) & 0xf] as number;
  bytes[at + 6] = hexDigits[(checksum >>> 4) & 0xf] as number;
  bytes[at + 7] = hexDigits[checksum & 0xf] as number;
}

/** The checksum whose text is at a place in bytes; null if these are not eight lower-case hexadecimal digits. */
export function readChecksum(bytes: Uint8Array, at: number): number | null {
  let checksum = 0;
  for (let index = 0; index < checksumLength; index += 1) {
    const digit = digitOf(bytes[at + index]);
    if (digit === null) return null;
    checksum = checksum * 16 + digit;
  }
  return checksum;
}

function digitOf(code = 0): number | null {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : null;
}

/** Whether two events, each as a line of JSON, are equal by rule 3: the same values, even with their keys in another order. */
export function hasSameContent(line: string, other: string): boolean {
  return line === other || isSameJson(JSON.parse(line), JSON.parse(other));
}
