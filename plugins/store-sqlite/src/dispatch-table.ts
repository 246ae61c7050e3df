import type { DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { DispatchClaim } from '@hansard/provider';
import { dispatchExists, dispatchNotFound } from '@hansard/store-kit';
import { decodeJson } from './database/decode.ts';
import type { DispatchRow } from './database/statements.ts';
import { inTransaction } from './database/transaction.ts';
import type { StoreParts } from './store-connection.ts';

/** @throws STORE_DISPATCH_EXISTS */
export function insertDispatch(
  { database, statements, leases }: StoreParts,
  taskDir: string,
  envelope: DispatchEnvelope,
): void {
  const { dispatchId, status } = envelope;
  inTransaction(database, () => {
    const text = JSON.stringify(envelope);
    const { changes, lastInsertRowid } = statements.insertDispatch.run(taskDir, dispatchId, text);
    if (changes === 0) throw dispatchExists(taskDir, dispatchId);
    if (status === 'running') leases.claim(Number(lastInsertRowid), dispatchId);
  });
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
export function claimDispatch(
  parts: StoreParts,
  taskDir: string,
  dispatchId: string,
  file: string,
): DispatchClaim {
  const { database, leases } = parts;
  return inTransaction(database, () => {
    const row = findRow(parts, taskDir, dispatchId);
    leases.claim(row.number, dispatchId);
    return { envelope: decodeEnvelope(row, file) };
  });
}

export function isClaimedHere(
  { statements, leases }: StoreParts,
  taskDir: string,
  dispatchId: string,
): boolean {
  const row = statements.getDispatch.get(taskDir, dispatchId);
  return row !== undefined && leases.isClaimed(row.number);
}

export function releaseDispatch(parts: StoreParts, taskDir: string, dispatchId: string): void {
  const { database, statements, leases, writer } = parts;
  inTransaction(database, () => {
    const row = statements.getDispatch.get(taskDir, dispatchId);
    if (row !== undefined && leases.isClaimed(row.number)) leases.release(row.number);
  });
  writer.forget(taskDir, dispatchId);
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED if this store has not claimed it */
export function updateEnvelope(
  parts: StoreParts,
  taskDir: string,
  dispatchId: string,
  updates: EnvelopeUpdates,
  file: string,
): DispatchEnvelope {
  const { database, statements, leases } = parts;
  return inTransaction(database, () => {
    const row = findRow(parts, taskDir, dispatchId);
    leases.assertClaimed(row.number, taskDir, dispatchId);
    const changed: Record<string, unknown> = { ...decodeEnvelope(row, file) };
    for (const [key, value] of Object.entries(updates)) if (value !== undefined) changed[key] = value;
    const text = JSON.stringify(changed);
    statements.setEnvelope.run(text, row.number);
    if (changed.status !== 'running') leases.keepEventCount(row.number);
    // A copy, which only the caller has.
    return JSON.parse(text) as DispatchEnvelope;
  });
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED if another store has claimed it */
export function removeDispatch(parts: StoreParts, taskDir: string, dispatchId: string): void {
  const { database, statements, leases, writer } = parts;
  inTransaction(database, () => {
    const { number } = findRow(parts, taskDir, dispatchId);
    leases.assertClaimable(number, dispatchId);
    statements.deleteSearchText.run(number, number);
    statements.deleteEventIds.run(number);
    statements.deleteEvents.run(number);
    statements.deleteDispatch.run(number);
    leases.release(number);
  });
  writer.forget(taskDir, dispatchId);
}

/** @throws STORE_CORRUPT */
export function decodeEnvelope({ dispatchId, envelope }: DispatchRow, file: string): DispatchEnvelope {
  return decodeJson(envelope, `the envelope of dispatch ${dispatchId}`, file, { dispatchId });
}

function findRow({ statements }: StoreParts, taskDir: string, dispatchId: string): DispatchRow {
  const row = statements.getDispatch.get(taskDir, dispatchId);
  if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
  return row;
}
