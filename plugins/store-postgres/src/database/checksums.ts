import { checksumOf } from '@hansard/store-kit';

/*
 * The checksums of stored rows: CRC-32 of UTF-8, as the signed number that fits an `integer`. They detect accidents, not malice.
 */

/** The value from which the checksum of the first event of a dispatch starts, so that a row of another dispatch is out of place. */
export function chainStart(taskDir: string, dispatchId: string): number {
  return checksumOf(`${taskDir}\n${dispatchId}`) | 0;
}

/** The checksum of an event. It starts from that of the event before it, so that a missing or moved row shows. */
export function eventChecksum(previous: number, line: string): number {
  return checksumOf(line, previous >>> 0) | 0;
}

export function envelopeChecksum(taskDir: string, dispatchId: string, envelope: string): number {
  return checksumOf(envelope, checksumOf(`${taskDir}\n${dispatchId}\n`)) | 0;
}

export function recordChecksum(taskDir: string, record: string): number {
  return checksumOf(record, checksumOf(`${taskDir}\n`)) | 0;
}
