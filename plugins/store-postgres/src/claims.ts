import type { ClaimState, Clock, DispatchClaim, StoreError } from '@hansard/provider';
import {
  createLease,
  defaultLeaseMs,
  describeOwner,
  dispatchNotClaimed,
  dispatchNotFound,
  encodeLease,
  HeartbeatTimer,
  HeartbeatWatch,
  type Lease,
  leaseRefused,
  parseLease,
  unlockCommand,
} from '@hansard/store-kit';
import type { Session } from './database/database.ts';
import type { ClaimedRow } from './database/statements.ts';
import type { Tables } from './database/tables.ts';
import { decodeEnvelope } from './tables/decode.ts';

export interface ClaimsSetup {
  readonly tables: Tables;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/**
 * A dispatch that only this opening can write until the transaction that has its row locked ends: nobody else has a claim of it that has not
 * expired. Only `Claims` makes one, and nothing changes, rewrites, repairs or removes a dispatch without it.
 */
class Fenced {
  // Private, so that no other object is one.
  readonly #row: ClaimedRow;

  constructor(row: ClaimedRow) {
    this.#row = row;
  }

  get row(): ClaimedRow {
    return this.#row;
  }
}

export type FencedClaim = Fenced;

/**
 * The claims of this opening of the store. The table `openings` has a row with a heartbeat for each opening that has claimed
 * something; the row of a claimed dispatch has the token of the opening (`writer`) and the epoch of the claim.
 *
 * Invariant: only the opening whose token and epoch are in the row of a dispatch appends to it, because the statement that appends
 * requires both, under a lock of that row.
 *
 * A claim is one transaction:
 * 1. Lock the row of the dispatch. That waits for an append under way, and no other one begins before the commit.
 * 2. Without a writer, or with our token, go to step 4.
 * 3. If the owner is proven to have exited, or this opening has seen its heartbeat unchanged for a whole lease by its own monotonic
 *    clock, go to step 4. Otherwise refuse with STORE_LOCKED. (`HeartbeatWatch` decides it; no time of the server is compared.)
 * 4. Write our heartbeat, our token and the next epoch.
 *
 * One unreferenced timer renews the heartbeat while something is claimed. A row of `openings` that is missing is written again.
 */
export class Claims {
  readonly #tables: Tables;
  readonly #clock: Clock;
  readonly #watch: HeartbeatWatch;
  readonly #timer: HeartbeatTimer;
  readonly #lease: Lease;
  readonly #claimed = new Set<string>();
  #hasOpening = false;
  #renewal: Promise<void> = Promise.resolve();

  constructor({ tables, leaseMs, clock }: ClaimsSetup) {
    this.#tables = tables;
    this.#clock = clock;
    this.#lease = createLease(leaseMs);
    this.#watch = new HeartbeatWatch(clock);
    this.#timer = new HeartbeatTimer(clock, leaseMs, () => {
      this.#renewal = this.#renew();
    });
  }

  get token(): string {
    return this.#lease.token;
  }

  /** Steps 1 to 4. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  async claim(taskDir: string, dispatchId: string): Promise<DispatchClaim> {
    const { statements } = this.#tables;
    const since = this.#clock.monotonic();
    const claim = await this.#tables.change(taskDir, dispatchId, async (session, row) => {
      this.takeOver(row, since);
      const envelope = decodeEnvelope(row, this.#tables.name);
      if (row.writer === this.token) return { envelope, epoch: Number(row.epoch) };
      await this.begin(session);
      const { rows } = await session.run(statements.takeClaim, [row.number, this.token]);
      if (row.writer !== null) await session.run(statements.deleteIdleOpening, [row.writer]);
      return { envelope, epoch: Number(rows[0]?.epoch) };
    });
    this.keep(taskDir, dispatchId);
    return claim;
  }

  /** Step 4 without the row of the dispatch: writes the heartbeat in the transaction of a claim. */
  async begin(session: Session): Promise<void> {
    await session.run(this.#tables.statements.beat, [this.token, encodeLease(this.#lease)]);
    this.#hasOpening = true;
  }

  /** Renews the heartbeat from now on, for a claim that was committed. */
  keep(taskDir: string, dispatchId: string): void {
    this.#claimed.add(`${taskDir}\n${dispatchId}`);
    this.#timer.start();
  }

  /** Forgets a claim that has ended. After the last one, the heartbeat ends. */
  drop(taskDir: string, dispatchId: string): void {
    this.#claimed.delete(`${taskDir}\n${dispatchId}`);
    if (this.#claimed.size === 0) this.#timer.stop();
  }

  /** Ends the claim of this opening, if it has it. */
  async release(taskDir: string, dispatchId: string): Promise<void> {
    this.drop(taskDir, dispatchId);
    await this.#tables.repeatable(this.#tables.statements.release, [taskDir, dispatchId, this.token]);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  async stateOf(taskDir: string, dispatchId: string): Promise<ClaimState | null> {
    const since = this.#clock.monotonic();
    const [row] = await this.#tables.rows(this.#tables.statements.findClaim, [taskDir, dispatchId]);
    if (row === undefined) throw dispatchNotFound(taskDir, dispatchId);
    return row.writer === null ? null : this.#judge(row, row.writer, since);
  }

  /** The claims of dispatches of a task; null for one that does not exist. */
  async statesOf(taskDir: string, dispatchIds: readonly string[]): Promise<(ClaimState | null)[]> {
    const since = this.#clock.monotonic();
    const { findClaims } = this.#tables.statements;
    const rows = await this.#tables.rows(findClaims, [taskDir, dispatchIds.join(',')]);
    const byId = new Map(rows.map((row) => [row.dispatchId, row]));
    return dispatchIds.map((dispatchId) => {
      const row = byId.get(dispatchId);
      return row === undefined || row.writer === null ? null : this.#judge(row, row.writer, since);
    });
  }

  /** Ends the claim of another opening. @throws STORE_DISPATCH_NOT_FOUND */
  async break(taskDir: string, dispatchId: string): Promise<void> {
    const { statements } = this.#tables;
    await this.#tables.change(taskDir, dispatchId, async (session, { number, writer }) => {
      if (writer === null || writer === this.token) return;
      await session.run(statements.endClaim, [number]);
      await session.run(statements.deleteIdleOpening, [writer]);
    });
  }

  /**
   * Steps 2 and 3, the takeover for work that needs no claim before it. The row is locked; `since`: the monotonic time from before it was read.
   * @throws STORE_LOCKED
   */
  takeOver(row: ClaimedRow, since: number): FencedClaim {
    const refusal = this.#refusal(row, since);
    if (refusal !== null) throw refusal;
    return new Fenced(row);
  }

  /** The claim that this opening has. @throws STORE_LOCKED if it has none; the message names the owner if there is one */
  own(row: ClaimedRow): FencedClaim {
    if (row.writer !== this.token) throw this.#notClaimed(row);
    return new Fenced(row);
  }

  /** The STORE_LOCKED, or STORE_DISPATCH_NOT_FOUND, for a write to a dispatch that this opening has not claimed. */
  async refused(taskDir: string, dispatchId: string): Promise<StoreError> {
    const [row] = await this.#tables.rows(this.#tables.statements.findClaim, [taskDir, dispatchId]);
    return row === undefined ? dispatchNotFound(taskDir, dispatchId) : this.#notClaimed(row);
  }

  /** Releases every dispatch of this opening. */
  async end(): Promise<void> {
    this.#timer.stop();
    await this.#renewal;
    if (!this.#hasOpening) return;
    const { statements } = this.#tables;
    await this.#tables.repeatable(statements.releaseAll, [this.token]);
    await this.#tables.repeatable(statements.deleteOpening, [this.token]);
  }

  #notClaimed(row: ClaimedRow): StoreError {
    return dispatchNotClaimed(row.taskDir, row.dispatchId, this.#refusal(row, this.#clock.monotonic()));
  }

  /** The error of a claim; null if the dispatch can be claimed. */
  #refusal(row: ClaimedRow, since: number): StoreError | null {
    const { taskDir, dispatchId, writer } = row;
    if (writer === null) return null;
    const { isOwn, state, expiresInMs } = this.#judge(row, writer, since);
    if (isOwn || state === 'expired') return null;
    return leaseRefused(leaseOf(row, writer), {
      what: `Dispatch ${dispatchId}`,
      howToRelease: `release the dispatch with \`${unlockCommand(taskDir, dispatchId)}\``,
      expiresInMs,
      details: { taskDir, dispatchId },
    });
  }

  #judge(row: ClaimedRow, writer: string, since: number): ClaimState {
    const lease = leaseOf(row, writer);
    const owner = describeOwner(lease.owner);
    if (writer === this.token) return { owner, isOwn: true, state: 'running', expiresInMs: null };
    return { owner, isOwn: false, ...this.#watch.observe(lease, row.beat ?? 'none', since) };
  }

  async #renew(): Promise<void> {
    if (this.#claimed.size === 0) return;
    try {
      const values = [this.token, encodeLease(this.#lease)];
      await this.#tables.repeatable(this.#tables.statements.beat, values);
    } catch {
      // A timer has no caller to throw to. The next beat tries again, and a write after the claim was lost is refused.
    }
  }
}

/** A lease that is missing, or that this version cannot read, counts as that of a process that it cannot check. */
function leaseOf({ owner }: ClaimedRow, token: string): Lease {
  const unknown = { pid: 0, host: 'an unknown host', startTime: null, bootId: null, pidNamespace: null };
  return {
    ...((owner === null ? null : parseLease(owner)) ?? { owner: unknown, leaseMs: defaultLeaseMs }),
    token,
  };
}
