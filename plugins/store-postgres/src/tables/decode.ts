import { createHash } from 'node:crypto';
import type { DispatchEnvelope, TaskRecord } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { checksumOf, knownEnvelope, knownTask, misplacedAs, writtenName } from '@hansard/store-kit';
import { corrupt } from '../database/postgres-errors.ts';
import type { DispatchRow, TaskRow } from '../database/statements.ts';

/** `name` is that of the database. @throws STORE_CORRUPT, STORE_NEWER, STORE_MISPLACED */
export function decodeEnvelope(row: DispatchRow, name: string): DispatchEnvelope {
  assertNamed(row, name);
  return decodeWritten(row, name);
}

/** The same, under whatever name the row was written. @throws STORE_CORRUPT, STORE_NEWER */
export function decodeWritten(row: DispatchRow, name: string): DispatchEnvelope {
  const { taskDir, dispatchId, envelope } = row;
  if (isEnvelopeWhole(row)) {
    const place = `Dispatch ${dispatchId} of ${taskDir} in ${name}`;
    return knownEnvelope(JSON.parse(envelope), place, { file: name, dispatchId });
  }
  throw corrupt(name, `the envelope of dispatch ${dispatchId} of ${taskDir} does not have its checksum`, {
    details: { dispatchId },
  });
}

/** @throws STORE_MISPLACED if a whole row was written under another name */
export function assertNamed(row: DispatchRow, name: string): void {
  if (!isNamed(row, row) && isEnvelopeWhole(row))
    throw misplacedAs(row.writtenAs, row, `Row ${row.number} of the table dispatches of ${name}`);
}

/** Whether a row was written under this name. */
export function isNamed(
  { writtenAs }: Pick<DispatchRow, 'writtenAs'>,
  { taskDir, dispatchId }: Pick<DispatchRow, 'taskDir' | 'dispatchId'>,
): boolean {
  return writtenAs === writtenName(taskDir, dispatchId);
}

function isEnvelopeWhole(row: DispatchRow): boolean {
  return envelopeChecksum(row) === row.checksum;
}

/** The damage of an envelope in words; null if it can be read. */
export function envelopeDamage(row: DispatchRow, name: string): string | null {
  if (!isEnvelopeWhole(row)) return 'the envelope does not have the checksum of the one that was written';
  try {
    decodeEnvelope(row, name);
    return null;
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
    return error.message;
  }
}

/** Null for a task without a record. @throws STORE_CORRUPT, STORE_NEWER */
export function decodeRecord({ taskDir, checksum, record }: TaskRow, name: string): TaskRecord | null {
  if (record === null) return null;
  if (recordChecksum(record) === checksum)
    return knownTask(JSON.parse(record), `The record of task ${taskDir} in ${name}`, { file: name, taskDir });
  throw corrupt(name, `the record of task ${taskDir} does not have its checksum`, { details: { taskDir } });
}

/*
 * The checksums of stored rows. Those of events and records are CRC-32 of UTF-8, as the signed number that fits an `integer`. They
 * detect accidents, not malice.
 */

interface CheckedDispatch {
  readonly writtenAs: string;
  readonly startedAt: string;
  readonly status: string;
  readonly envelope: string;
}

/** A SHA-256, which the server can compute, too. */
export function envelopeChecksum(row: CheckedDispatch): string {
  const { writtenAs, startedAt, status, envelope } = row;
  return createHash('sha256').update([writtenAs, startedAt, status, envelope].join('\n')).digest('hex');
}

export function recordChecksum(record: string): number {
  return checksumOf(record) | 0;
}
