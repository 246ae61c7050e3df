import { createHash } from 'node:crypto';
import { checksumOf } from '@hansard/store-kit';

/*
 * The checksums of stored rows. Those of events and records are CRC-32 of UTF-8, as the signed number that fits an `integer`. They
 * detect accidents, not malice.
 */

/** The value from which the checksum of the first event of a dispatch starts, so that a row of another dispatch is out of place. */
export function chainStart(taskDir: string, dispatchId: string): number {
  return checksumOf(`${taskDir}\n${dispatchId}`) | 0;
}

/** The checksum of an event. It starts from that of the event before it, so that a missing or moved row shows. */
export function eventChecksum(previous: number, line: string): number {
  return checksumOf(line, previous >>> 0) | 0;
}

export interface CheckedDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly startedAt: string;
  readonly status: string;
  readonly envelope: string;
}

/** A SHA-256, which the server can compute, too. */
export function envelopeChecksum(row: CheckedDispatch): string {
  const { taskDir, dispatchId, startedAt, status, envelope } = row;
  return createHash('sha256')
    .update([taskDir, dispatchId, startedAt, status, envelope].join('\n'))
    .digest('hex');
}

export function recordChecksum(taskDir: string, record: string): number {
  return checksumOf(record, checksumOf(`${taskDir}\n`)) | 0;
}
