import type { ClaimState, Clock, DispatchClaim, StoreError } from '@hansard/provider';
import {
  createLease,
  defaultLeaseMs,
  describeOwner,
  dispatchNotClaimed,
  dispatchNotFound,
  encodeLease,
  HeartbeatTimer,
  hasExpired,
  type Lease,
  leaseRefused,
  parseLease,
  systemProcesses,
  unlockCommand,
  writtenName,
} from '@hansard/store-kit';
import { type DispatchRow, decodeEnvelope, toRow } from './dispatch-row.ts';
import { scripts } from './server/scripts.ts';
import { newerKeys, type Reply, type Server, versionText } from './server/server.ts';

/**
 * A claim that this opening has for as long as the row of the dispatch has its token and this epoch. Only `Claims` makes one, and nothing fills a
 * new number of a dispatch or switches to it without one.
 */
class Fenced {
  // Private, so that no other object is one.
  readonly #row: DispatchRow;
  readonly epoch: number;
  /** Whether this opening had the claim before. */
  readonly wasOurs: boolean;

  constructor(row: DispatchRow, epoch: number, wasOurs: boolean) {
    this.#row = row;
    this.epoch = epoch;
    this.wasOurs = wasOurs;
  }

  get row(): DispatchRow {
    return this.#row;
  }
}

export type FencedClaim = Fenced;

/**
 * The claims of this opening. The row of a claimed dispatch has the token of the opening (`writer`) and the epoch of the claim. One key with
 * a time to live stands for the lease of the opening.
 *
 * Invariant: only the opening whose token and epoch are in the row changes the dispatch, because every script compares them in the step
 * that writes.
 *
 * A claim is one script:
 * 1. Without a writer, or with our token, go to step 3.
 * 2. If the key of the owner's lease has ended on the server, or its process is proven to have exited on this machine, go to step 3. Otherwise
 *    refuse with STORE_LOCKED. A lease that ended while the server was away counts only after the server has run for a whole lease, so that
 *    its owner could renew it.
 * 3. Write our token, the next epoch, and our lease with its time to live.
 *
 * One unreferenced timer sets the time to live again while something is claimed.
 */
export class Claims {
  readonly #server: Server;
  readonly #lease: Lease;
  readonly #timer: HeartbeatTimer;
  readonly #claimed = new Set<string>();
  /** Those of `#claimed` that nobody asked for: a rewrite has them, or could not release them. */
  readonly #borrowed = new Set<string>();
  #renewal: Promise<void> = Promise.resolve();

  constructor(server: Server, leaseMs: number, clock: Clock) {
    this.#server = server;
    this.#lease = createLease(leaseMs);
    this.#timer = new HeartbeatTimer(clock, leaseMs, () => {
      this.#renewal = this.#renew();
    });
  }

  get token(): string {
    return this.#lease.token;
  }

  /** A third more than the lease, so that an opening that stops just before it renews its lease still has a whole one. */
  get #timeToLive(): string {
    return String(Math.ceil((this.#lease.leaseMs * 4) / 3));
  }

  /** The first arguments of a script that claims. */
  get claimArgs(): readonly string[] {
    return [versionText, this.token, encodeLease(this.#lease), this.#timeToLive];
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_NEWER, STORE_CORRUPT, STORE_MISPLACED */
  async claim(taskDir: string, dispatchId: string): Promise<DispatchClaim> {
    const { row, epoch, wasOurs } = await this.take(taskDir, dispatchId);
    this.#borrowed.delete(writtenName(taskDir, dispatchId));
    try {
      return { envelope: decodeEnvelope(row, this.#server.name), epoch };
    } catch (error) {
      if (!wasOurs) await this.release(taskDir, dispatchId);
      throw error;
    }
  }

  /** Whether this opening has claimed a dispatch, as its row says, and not only for a rewrite. */
  has({ writer, taskDir, dispatchId }: DispatchRow): boolean {
    return writer === this.token && !this.#borrowed.has(writtenName(taskDir, dispatchId));
  }

  /** For a claim that a rewrite took and will release. */
  borrow(taskDir: string, dispatchId: string): void {
    this.#borrowed.add(writtenName(taskDir, dispatchId));
  }

  /** Claims a dispatch, whatever is wrong with it. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED */
  async take(taskDir: string, dispatchId: string): Promise<FencedClaim> {
    await this.#server.assertDurable();
    const name = writtenName(taskDir, dispatchId);
    const ask = (dead: string) =>
      this.#server.repeatable(scripts.claim, [...this.claimArgs, name, dead]) as Promise<readonly Reply[]>;
    const [answer, value, reply] = await this.#askTwice(taskDir, dispatchId, ask);
    if (answer === 'newer') throw newerKeys(this.#server.name);
    const row = toRow(taskDir, dispatchId, reply ?? null);
    this.keep(taskDir, dispatchId);
    return new Fenced(row, Number(value), this.has(row));
  }

  /** Removes a dispatch that nobody else has claimed. @throws STORE_DISPATCH_NOT_FOUND, STORE_LOCKED, STORE_MISPLACED */
  async remove(taskDir: string, dispatchId: string): Promise<void> {
    const name = writtenName(taskDir, dispatchId);
    const ask = (dead: string) =>
      this.#server.run(scripts.remove, [this.token, name, dead]) as Promise<readonly Reply[]>;
    const [answer, , reply] = await this.#askTwice(taskDir, dispatchId, ask);
    if (answer === 'misplaced') decodeEnvelope(toRow(taskDir, dispatchId, reply ?? null), this.#server.name);
    this.drop(taskDir, dispatchId);
  }

  /** Asks again, naming the owner, if its process is proven to have exited. */
  async #askTwice(
    taskDir: string,
    dispatchId: string,
    ask: (dead: string) => Promise<readonly Reply[]>,
  ): Promise<readonly Reply[]> {
    for (let dead = ''; ; ) {
      const answer = await ask(dead);
      if (answer[0] === 'missing') throw dispatchNotFound(taskDir, dispatchId);
      if (answer[0] !== 'locked') return answer;
      const row = toRow(taskDir, dispatchId, answer[2] ?? null);
      if (dead === row.writer || !hasExpired(leaseOf(row))) throw this.#refusal(row, Number(answer[1]));
      dead = row.writer;
    }
  }

  /** Renews the lease from now on, for a claim that was made. */
  keep(taskDir: string, dispatchId: string): void {
    this.#claimed.add(writtenName(taskDir, dispatchId));
    this.#timer.start();
  }

  /** Forgets a claim that has ended. After the last one, the lease is not renewed. */
  drop(taskDir: string, dispatchId: string): void {
    this.#claimed.delete(writtenName(taskDir, dispatchId));
    this.#borrowed.delete(writtenName(taskDir, dispatchId));
    if (this.#claimed.size === 0) this.#timer.stop();
  }

  /** Ends the claim of this opening, if it has it. */
  async release(taskDir: string, dispatchId: string): Promise<void> {
    await this.#server.repeatable(scripts.release, [this.token, writtenName(taskDir, dispatchId)]);
    this.drop(taskDir, dispatchId);
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  async break(taskDir: string, dispatchId: string): Promise<void> {
    const name = writtenName(taskDir, dispatchId);
    const [answer] = (await this.#server.repeatable(scripts.breakClaim, [this.token, name])) as [string];
    if (answer === 'missing') throw dispatchNotFound(taskDir, dispatchId);
  }

  /** The claim of a row, as this opening sees it. */
  stateOf(row: DispatchRow): ClaimState | null {
    if (row.writer === '') return null;
    const { owner } = leaseOf(row);
    const name = describeOwner(owner);
    const isOwn = row.writer === this.token;
    const isKnown = isOwn || systemProcesses.whyUnchecked(owner) === null;
    if (!isOwn && (row.leaseLeft === -2 || hasExpired({ owner })))
      return { owner: name, isOwn, state: 'expired', expiresInMs: null };
    return isKnown
      ? { owner: name, isOwn, state: 'running', expiresInMs: null }
      : { owner: name, isOwn, state: 'unknown', expiresInMs: Math.max(0, row.leaseLeft) };
  }

  /** The STORE_LOCKED for a write to a dispatch that this opening has not claimed. */
  notClaimed(row: DispatchRow): StoreError {
    const isFree = row.writer === '' || row.writer === this.token || row.leaseLeft === -2;
    const refusal = isFree ? null : this.#refusal(row, row.leaseLeft);
    return dispatchNotClaimed(row.taskDir, row.dispatchId, refusal);
  }

  /** Releases every dispatch of this opening. */
  async end(): Promise<void> {
    this.#timer.stop();
    await this.#renewal;
    if (this.#claimed.size === 0) return;
    await this.#server.repeatable(scripts.release, [this.token, ...this.#claimed]);
    await this.#server.repeatableCommand(['DEL', this.#leaseKey()]);
  }

  #refusal(row: DispatchRow, freeInMs: number): StoreError {
    const { taskDir, dispatchId } = row;
    const lease = leaseOf(row);
    return leaseRefused(lease, {
      what: `Dispatch ${dispatchId}`,
      howToRelease: `release the dispatch with \`${unlockCommand(taskDir, dispatchId)}\``,
      expiresInMs: systemProcesses.whyUnchecked(lease.owner) === null ? null : freeInMs,
      details: { taskDir, dispatchId },
    });
  }

  #leaseKey(): string {
    return `${this.#server.base}o:${this.token}`;
  }

  async #renew(): Promise<void> {
    if (this.#claimed.size === 0) return;
    const value = encodeLease(this.#lease);
    try {
      await this.#server.repeatableCommand([...['SET', this.#leaseKey(), value, 'PX', this.#timeToLive]]);
    } catch {
      // A timer has no caller to throw to. The next beat tries again, and a write after the claim was lost is refused.
    }
  }
}

/** A lease that this version cannot read counts as that of a process that it cannot check. */
function leaseOf({ owner, writer }: DispatchRow): Lease {
  const unknown = { pid: 0, host: 'an unknown host', startTime: null, bootId: null, pidNamespace: null };
  return { ...(parseLease(owner) ?? { owner: unknown, leaseMs: defaultLeaseMs }), token: writer };
}
