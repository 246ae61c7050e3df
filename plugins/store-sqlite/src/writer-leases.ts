import type { ClaimState, Clock, StoreError } from '@hansard/provider';
import {
  createLease,
  defaultLeaseMs,
  describeOwner,
  dispatchNotClaimed,
  encodeLease,
  HeartbeatTimer,
  HeartbeatWatch,
  type Lease,
  leaseRefused,
  type Processes,
  parseLease,
  unlockCommand,
} from '@hansard/store-kit';
import { dispatchChecksum } from './database/decode.ts';
import type { ClaimRow, DispatchRow, Statements } from './database/statements.ts';
import { isDamage } from './sqlite-errors.ts';

export interface WriterLeasesSetup {
  readonly statements: Statements;
  readonly file: string;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly processes: Processes;
}

/**
 * A dispatch that only this opening can write until its transaction, which has SQLite's write lock, ends: nobody else has a claim of it that has not
 * expired. Only `WriterLeases` makes one, and nothing changes, rewrites, repairs or removes a dispatch without it.
 */
class Fenced {
  // Private, so that no other object is one.
  readonly #row: DispatchRow;
  /** Whether this opening had claimed it before. */
  readonly isOwn: boolean;

  constructor(row: DispatchRow, isOwn: boolean) {
    this.#row = row;
    this.isOwn = isOwn;
  }

  get row(): DispatchRow {
    return this.#row;
  }
}

export type FencedClaim = Fenced;

/**
 * The leases of this opening of the store. The table `openings` has a row with a heartbeat for each opening that has claimed
 * something, and the table `claims` a row for each claimed dispatch, with the token of the opening and the epoch of the claim.
 *
 * Invariant: a dispatch has at most one row in `claims`, and only the opening with its token writes to the dispatch.
 *
 * A claim is one transaction of the caller, which has SQLite's write lock from its start, so that no other process acts
 * between the steps:
 * 1. Read the row of the dispatch. No row: go to step 4. A row with the token of this opening: it is claimed already.
 * 2. If the owner is proven to have exited, go to step 4.
 * 3. If this opening has seen the heartbeat of the owner unchanged for a whole lease, by its own monotonic clock, go to step 4.
 *    Otherwise remember the heartbeat and refuse with STORE_LOCKED. (`HeartbeatWatch` does steps 2 and 3.)
 * 4. Write the row with the token of this opening and the next epoch of the dispatch, over the old row.
 *
 * Every write requires the claim in its own transaction: an append in its statement, which inserts nothing unless the row with
 * the epoch of the writer exists. So an opening that was stopped, and whose dispatch was taken over meanwhile, is refused.
 *
 * One unreferenced timer renews the heartbeat while something is claimed.
 */
export class WriterLeases {
  readonly #statements: Statements;
  readonly #file: string;
  readonly #leaseMs: number;
  readonly #processes: Processes;
  readonly #watch: HeartbeatWatch;
  readonly #timer: HeartbeatTimer;
  readonly #claimed = new Set<number>();
  #own: Lease | null = null;
  #beat = 0;

  constructor({ statements, file, leaseMs, clock, processes }: WriterLeasesSetup) {
    this.#statements = statements;
    this.#file = file;
    this.#leaseMs = leaseMs;
    this.#processes = processes;
    this.#watch = new HeartbeatWatch(clock, processes);
    this.#timer = new HeartbeatTimer(clock, leaseMs, () => this.#renew());
  }

  /** Steps 1 to 4. After the commit, the caller calls `keep`. @returns the epoch @throws STORE_LOCKED */
  claim(row: DispatchRow): number {
    const claim = this.#statements.findClaim.get(row.number);
    if (claim !== undefined && claim.token === this.#own?.token) return claim.epoch;
    this.takeOver(row);
    const epoch = Math.max(row.epoch, claim?.epoch ?? 0) + 1;
    this.#statements.setEpoch.run(epoch, dispatchChecksum({ ...row, epoch }), row.number);
    this.begin(row.number, epoch);
    if (claim !== undefined) this.#statements.deleteIdleOpening.run(claim.token);
    return epoch;
  }

  /** Step 4. After the commit, the caller calls `keep`. */
  begin(dispatch: number, epoch: number): void {
    this.#own ??= createLease(this.#leaseMs, this.#processes);
    this.#statements.putOpening.run(this.#own.token, encodeLease(this.#own), this.#nextBeat());
    this.#statements.putClaim.run(dispatch, epoch, this.#own.token);
  }

  /** Renews the heartbeat from now on, for a claim that was committed. */
  keep(dispatch: number): void {
    this.#claimed.add(dispatch);
    this.#timer.start();
  }

  /**
   * Steps 1 to 3, the takeover for work that needs no claim before it, in the transaction of the work.
   * @throws STORE_LOCKED if another opening has claimed the dispatch, and its lease has not expired
   */
  takeOver(row: DispatchRow): FencedClaim {
    const refusal = this.#refusal(row.number, row.taskDir, row.dispatchId);
    if (refusal !== null) throw refusal;
    return new Fenced(row, this.isClaimed(row.number));
  }

  /** The claim that this opening has. @throws STORE_LOCKED if it has none; the message names the owner if there is one */
  own(row: DispatchRow): FencedClaim {
    this.assertClaimed(row.number, row.taskDir, row.dispatchId);
    return new Fenced(row, true);
  }

  /** The claim of a dispatch by any opening; null if there is none. */
  stateOf(dispatch: number): ClaimState | null {
    const claim = this.#statements.findClaim.get(dispatch);
    return claim === undefined ? null : this.#judge(claim);
  }

  isClaimed(dispatch: number): boolean {
    return this.#ownEpoch(dispatch) !== null;
  }

  /**
   * The epoch of the claim of this opening.
   * @throws STORE_LOCKED if this opening has not claimed the dispatch; the message names the owner if there is one
   */
  assertClaimed(dispatch: number, taskDir: string, dispatchId: string): number {
    const epoch = this.#ownEpoch(dispatch);
    if (epoch === null) throw this.notClaimed(dispatch, taskDir, dispatchId);
    return epoch;
  }

  notClaimed(dispatch: number, taskDir: string, dispatchId: string): StoreError {
    return dispatchNotClaimed(taskDir, dispatchId, this.#refusal(dispatch, taskDir, dispatchId));
  }

  /** Records the number of events. From then on, fewer events are damage. */
  keepEventCount(dispatch: number): void {
    // Damage that prevents counting must not prevent a release.
    whereWhole(() => this.#statements.keepEventCount.run(dispatch));
  }

  /**
   * Ends the claim of a dispatch by any opening. The caller has checked, in the same transaction, that it may. After the commit, it
   * calls `drop`.
   */
  end(dispatch: number): void {
    const claim = this.#statements.findClaim.get(dispatch);
    if (claim === undefined) return;
    this.#statements.deleteClaim.run(dispatch);
    if (claim.token !== this.#own?.token) this.#statements.deleteIdleOpening.run(claim.token);
  }

  /** Forgets a claim whose end was committed. After the last one, the heartbeat ends with its next beat. */
  drop(dispatch: number): void {
    this.#claimed.delete(dispatch);
  }

  /** Whether this opening has claimed something. */
  get hasLease(): boolean {
    return this.#own !== null;
  }

  /** Ends the heartbeat. */
  stop(): void {
    this.#timer.stop();
  }

  /** Releases every dispatch of this opening, in a transaction of the caller. */
  endAll(): void {
    if (this.#own === null) return;
    const { token } = this.#own;
    whereWhole(() => this.#statements.keepEventCountsOf.run(token));
    this.#statements.deleteClaimsOf.run(token);
    this.#statements.deleteOpening.run(token);
  }

  /** The dispatches that this opening may have claimed. */
  claimed(): readonly number[] {
    return [...this.#claimed].filter((dispatch) => this.isClaimed(dispatch));
  }

  #ownEpoch(dispatch: number): number | null {
    const claim = this.#statements.findClaim.get(dispatch);
    return claim !== undefined && claim.token === this.#own?.token ? claim.epoch : null;
  }

  /** The error of a claim; null if the dispatch can be claimed. */
  #refusal(dispatch: number, taskDir: string, dispatchId: string): StoreError | null {
    const claim = this.#statements.findClaim.get(dispatch);
    if (claim === undefined) return null;
    const { isOwn, state, expiresInMs } = this.#judge(claim);
    if (isOwn || state === 'expired') return null;
    const parts = {
      what: `Dispatch ${dispatchId}`,
      howToRelease: `release the dispatch with \`${unlockCommand(taskDir, dispatchId)}\``,
      expiresInMs,
      details: { taskDir, dispatchId, file: this.#file },
    };
    return leaseRefused(leaseOf(claim), parts, this.#processes);
  }

  /** Steps 2 and 3, for a claim of any opening. */
  #judge(claim: ClaimRow): ClaimState {
    const lease = leaseOf(claim);
    const owner = describeOwner(lease.owner, this.#processes);
    if (claim.token === this.#own?.token) return { owner, isOwn: true, state: 'running', expiresInMs: null };
    return { owner, isOwn: false, ...this.#watch.observe(lease, claim.beat ?? -1) };
  }

  /** Another value each time, including after the row was removed and written again. */
  #nextBeat(): number {
    this.#beat += 1;
    return this.#beat;
  }

  #renew(): void {
    try {
      if (this.#own === null) return;
      if (this.#claimed.size === 0) {
        this.#timer.stop();
        this.#statements.deleteIdleOpening.run(this.#own.token);
        return;
      }
      const { changes } = this.#statements.renewOpening.run(this.#nextBeat(), this.#own.token);
      // Without a row, every claim was taken over.
      if (Number(changes) === 0) this.#claimed.clear();
    } catch {
      // A timer has no caller to throw to. The next beat tries again, and a write after the lease was lost is refused.
    }
  }
}

/** A lease that this version cannot read counts as that of a process that it cannot check. */
function leaseOf({ token, owner }: ClaimRow): Lease {
  const unknown = { pid: 0, host: 'an unknown host', startTime: null, bootId: null, pidNamespace: null };
  return {
    ...((owner === null ? null : parseLease(owner)) ?? { owner: unknown, leaseMs: defaultLeaseMs }),
    token,
  };
}

/** Runs work that damage may prevent. */
function whereWhole(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
}
