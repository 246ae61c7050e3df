import type { DispatchEnvelope, EnvelopeUpdates } from '@hansard/events';
import type { ClaimState, DispatchClaim } from '@hansard/provider';
import { dispatchNotFound } from '@hansard/store-kit';
import { inSnapshot, inTransaction } from './database/transaction.ts';
import { isDamage } from './sqlite-errors.ts';
import type { StoreParts } from './store-parts.ts';
import type { FencedClaim } from './writer-leases.ts';

// What needs a claim, gives one or ends one. Each function is one transaction.

/** @throws STORE_DISPATCH_EXISTS */
export function createDispatch(parts: StoreParts, taskDir: string, envelope: DispatchEnvelope): void {
  const { database, dispatches, leases, acknowledgements, writer } = parts;
  const { dispatchId } = envelope;
  const isRunning = envelope.status === 'running';
  const number = inTransaction(database, () => {
    const inserted = dispatches.insert(taskDir, envelope, isRunning ? 1 : 0);
    if (isRunning) leases.begin(inserted, 1);
    prepareLengths(parts);
    return inserted;
  });
  if (isRunning) leases.keep(number);
  // What it knew is from a dispatch of this name that another opening deleted.
  writer.forget(taskDir, dispatchId);
  acknowledgements.note(acknowledgements.begin({ number, taskDir, dispatchId, length: 0, inFile: -1 }));
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
export function claimDispatch(parts: StoreParts, taskDir: string, dispatchId: string): DispatchClaim {
  const { database, dispatches, leases, writer } = parts;
  const { number, ...claim } = inTransaction(database, () => {
    const row = dispatches.get(taskDir, dispatchId);
    const epoch = leases.claim(row);
    prepareLengths(parts);
    return { number: row.number, epoch, envelope: dispatches.decode(row) };
  });
  leases.keep(number);
  // What it knew may be from a claim that ended, and another opening may have written since.
  writer.forget(taskDir, dispatchId);
  return claim;
}

export function isClaimedHere(
  { statements, leases }: StoreParts,
  taskDir: string,
  dispatchId: string,
): boolean {
  const row = statements.getDispatch.get(taskDir, dispatchId);
  return row !== undefined && leases.isClaimed(row.number);
}

/** A release counts the events, in the database and in the file of lengths, before it ends the claim. */
export function releaseDispatch(parts: StoreParts, taskDir: string, dispatchId: string): void {
  const { database, statements, leases, acknowledgements, writer } = parts;
  const released = inTransaction(database, () => {
    const row = statements.getDispatch.get(taskDir, dispatchId);
    if (row === undefined || !leases.isClaimed(row.number)) return null;
    acknowledgements.settle(taskDir, dispatchId);
    leases.keepEventCount(row.number);
    leases.end(row.number);
    return row.number;
  });
  if (released !== null) leases.drop(released);
  writer.forget(taskDir, dispatchId);
}

/** Ends the claims of this opening, as `releaseDispatch` does. Without a claim it writes nothing, so a reader waits for no writer. */
export function releaseAll(parts: StoreParts): void {
  const { database, leases, acknowledgements } = parts;
  leases.stop();
  try {
    const errors = leases.hasLease ? inTransaction(database, () => endAll(parts)) : [];
    if (errors.length > 0) throw errors[0];
  } finally {
    acknowledgements.stop();
  }
}

/** @returns the errors of the file of lengths, which prevent no release */
function endAll({ leases, acknowledgements, statements }: StoreParts): unknown[] {
  const errors: unknown[] = [];
  for (const number of leases.claimed()) {
    const row = statements.getDispatchNumbered.get(number);
    try {
      if (row !== undefined) acknowledgements.settle(row.taskDir, row.dispatchId);
    } catch (error) {
      errors.push(error);
    }
  }
  leases.endAll();
  return errors;
}

/** @throws STORE_DISPATCH_NOT_FOUND */
export function findClaim(parts: StoreParts, taskDir: string, dispatchId: string): ClaimState | null {
  return parts.leases.stateOf(parts.dispatches.get(taskDir, dispatchId).number);
}

/** The claims of dispatches at one moment; null for one that does not exist. */
export function findClaims(
  { database, statements, leases }: StoreParts,
  taskDir: string,
  dispatchIds: readonly string[],
): (ClaimState | null)[] {
  return inSnapshot(database, () =>
    dispatchIds.map((dispatchId) => {
      const row = statements.getDispatch.get(taskDir, dispatchId);
      return row === undefined ? null : leases.stateOf(row.number);
    }),
  );
}

/** @throws STORE_DISPATCH_NOT_FOUND */
export function breakClaim(parts: StoreParts, taskDir: string, dispatchId: string): void {
  const { database, dispatches, leases } = parts;
  inTransaction(database, () => {
    const { number } = dispatches.get(taskDir, dispatchId);
    if (!leases.isClaimed(number)) leases.end(number);
  });
}

/** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED if this store has not claimed it */
export function updateEnvelope(
  parts: StoreParts,
  taskDir: string,
  dispatchId: string,
  updates: EnvelopeUpdates,
): DispatchEnvelope {
  const { database, dispatches, leases } = parts;
  return inTransaction(database, () => {
    const row = dispatches.get(taskDir, dispatchId);
    const changed = dispatches.update(leases.own(row), updates);
    if (changed.status !== 'running') leases.keepEventCount(row.number);
    return changed;
  });
}

/** Removes a dispatch, whatever of it is damaged or missing. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
export function removeDispatch(parts: StoreParts, taskDir: string, dispatchId: string): void {
  const { database, statements, dispatches, leases, lengths, acknowledgements, writer } = parts;
  const removed = inTransaction(database, () => {
    const row = statements.getDispatch.get(taskDir, dispatchId);
    if (row === undefined) {
      if (!lengths.forget(taskDir, dispatchId)) throw dispatchNotFound(taskDir, dispatchId);
      return null;
    }
    dispatches.assertNamed(row, taskDir, dispatchId);
    const { number } = row;
    const claim = leases.takeOver(row);
    removeContent(statements, claim);
    dispatches.remove(claim);
    leases.end(number);
    // Before the commit, after which a length without a dispatch would count as a loss.
    prepareLengths(parts);
    lengths.clear(number);
    return number;
  });
  if (removed !== null) {
    leases.drop(removed);
    acknowledgements.forget(removed);
  }
  writer.forget(taskDir, dispatchId);
}

/** With the damaged rows that were kept when losses were accepted. */
function removeContent(statements: StoreParts['statements'], { row: { number } }: FencedClaim): void {
  for (const old of [number, ...statements.listLosses.all(number).map((loss) => loss.number)]) {
    whereWhole(() => statements.deleteSearchText.run(old, old));
    whereWhole(() => statements.deleteEventIds.run(old));
    whereWhole(() => statements.deleteEvents.run(old));
  }
  statements.deleteLosses.run(number);
}

/** The file of lengths is created by the first claim. @throws STORE_CORRUPT if the id of the database is damaged */
export function prepareLengths({ lengths, tasks }: StoreParts): void {
  if (lengths.isWritable) return;
  tasks.head();
  lengths.prepare();
}

/** Rows that damage makes unreachable stay in the file, under a number that no dispatch will have. */
function whereWhole(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
}
