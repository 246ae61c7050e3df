import type { StoreError } from '@hansard/provider';
import {
  createLease,
  dispatchNotClaimed,
  hasExpired,
  type Lease,
  leaseRefused,
  toOwner,
} from '@hansard/store-kit';
import type { Statements } from './database/statements.ts';
import { corrupt } from './sqlite-errors.ts';

/**
 * The leases of this opening of the store, as rows of the table `writers`: the number of the dispatch, the token of the
 * opening that has claimed it, and the process that owns the opening.
 *
 * Invariant: a dispatch has at most one row, and only the opening with the token of that row writes to the dispatch.
 *
 * A claim is one transaction of the caller, which has SQLite's write lock from its start, so that no other process acts
 * between the steps:
 * 1. Read the row of the dispatch. No row, or a row with the token of this opening: go to step 3.
 * 2. If the owner is not proven to have exited, refuse with STORE_LOCKED.
 * 3. Write the row with the token and the owner of this opening, over the old row.
 *
 * An update of the envelope, and the first append after a claim, read the row in their own transaction and require the token
 * of this opening. A later append does not read it. It inserts at the position after the last event that this opening knows,
 * and the table allows one event per position. If a person removed the row while its owner was writing, and another opening
 * claimed the dispatch and appended, the insert fails, and the append is STORE_LOCKED. It never replaces an event.
 *
 * A release records the number of events, below which the dispatch counts as damaged, and then deletes the row. The order
 * matters in `releaseAll`, where these are two transactions: an end of the process between them leaves a row that expires.
 */
export class WriterLeases {
  readonly #statements: Statements;
  readonly #file: string;
  /** Null until the first claim has been written. */
  #own: Lease | null = null;

  constructor(statements: Statements, file: string) {
    this.#statements = statements;
    this.#file = file;
  }

  /** Steps 1 to 3. @throws STORE_LOCKED */
  claim(dispatch: number, dispatchId: string): void {
    this.assertClaimable(dispatch, dispatchId);
    const lease = this.#own ?? createLease();
    this.#statements.putLease.run(dispatch, lease.token, JSON.stringify(lease.owner));
    this.#own = lease;
  }

  /** Steps 1 and 2. @throws STORE_LOCKED if another opening has claimed the dispatch, and its owner may be running */
  assertClaimable(dispatch: number, dispatchId: string): void {
    const refusal = this.#refusal(dispatch, dispatchId);
    if (refusal !== null) throw refusal;
  }

  isClaimed(dispatch: number): boolean {
    const row = this.#statements.getLease.get(dispatch);
    return row !== undefined && row.token === this.#own?.token;
  }

  /** @throws STORE_LOCKED if this opening has not claimed the dispatch; the message names the owner if there is one */
  assertClaimed(dispatch: number, taskDir: string, dispatchId: string): void {
    if (!this.isClaimed(dispatch)) throw this.notClaimed(dispatch, taskDir, dispatchId);
  }

  notClaimed(dispatch: number, taskDir: string, dispatchId: string): StoreError {
    return dispatchNotClaimed(taskDir, dispatchId, this.#refusal(dispatch, dispatchId));
  }

  /** Records the number of events. From then on, fewer events are damage. */
  keepEventCount(dispatch: number): void {
    this.#statements.keepEventCount.run(dispatch);
  }

  /** Releases a dispatch. The caller has checked, in the same transaction, that no other opening has claimed it. */
  release(dispatch: number): void {
    this.keepEventCount(dispatch);
    this.#statements.deleteLease.run(dispatch);
  }

  /** Releases every dispatch of this opening. Without a claim it writes nothing, so a reader waits for no writer. */
  releaseAll(): void {
    if (this.#own === null) return;
    this.#statements.keepEventCountsOf.run(this.#own.token);
    this.#statements.deleteLeasesOf.run(this.#own.token);
  }

  /** The error of a claim; null if the dispatch can be claimed. */
  #refusal(dispatch: number, dispatchId: string): StoreError | null {
    const row = this.#statements.getLease.get(dispatch);
    if (row === undefined || row.token === this.#own?.token) return null;
    const lease = { token: row.token, owner: this.#parseOwner(row.owner) };
    if (hasExpired(lease)) return null;
    const file = this.#file;
    const command = `sqlite3 '${file}' "DELETE FROM writers WHERE dispatch = ${dispatch}"`;
    return leaseRefused(lease, {
      what: `Dispatch ${dispatchId}`,
      howToRelease: `release the dispatch with this command: ${command}`,
      details: { dispatchId, file },
    });
  }

  #parseOwner(text: string): Lease['owner'] {
    let cause: unknown;
    try {
      const owner = toOwner(JSON.parse(text));
      if (owner !== null) return owner;
    } catch (error) {
      cause = error;
    }
    throw corrupt(this.#file, 'the owner of a dispatch is not the record of a process', { cause });
  }
}
