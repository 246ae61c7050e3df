import { type ClaimState, type Clock, systemClock } from '@hansard/provider';
import type { Lease } from './lease.ts';
import { type Processes, systemProcesses } from './process-owner.ts';

/** The fields of `ClaimState` that say whether a claim can be taken over. */
export type LeaseState = Pick<ClaimState, 'state' | 'expiresInMs'>;

interface Sighting {
  readonly beat: string | number;
  /** When this opening first saw this heartbeat, by its monotonic clock. */
  readonly since: number;
  /** Whether this opening has seen an earlier heartbeat of the same lease. */
  readonly isRenewed: boolean;
}

/**
 * The heartbeats of other openings, as one opening of a store has seen them.
 *
 * A lease expires in one of two ways:
 * 1. Its owner is proven to have exited. It expires at once.
 * 2. This opening has seen the same heartbeat for a whole lease, by its own monotonic clock: at the first and at the last
 *    moment of it. A time that another process wrote is never compared with a clock.
 */
export class HeartbeatWatch {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #processes: Processes;
  /** By the token of the lease. */
  readonly #seen = new Map<string, Sighting>();

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock, processes: Processes = systemProcesses) {
    this.#clock = clock;
    this.#processes = processes;
  }

  /**
   * Notes a heartbeat of a lease, read just now, and judges the lease. `beat` is any value that each renewal changes. `readFrom` is
   * the monotonic time from before it was read, because this process may have been stopped since. It can be absent if
   * nobody could renew the lease between the read and this call.
   */
  observe({ token, owner, leaseMs }: Lease, beat: string | number, readFrom?: number): LeaseState {
    if (this.hasExited(owner)) return { state: 'expired', expiresInMs: null };
    const now = this.#clock.monotonic();
    const before = this.#seen.get(token);
    if (before?.beat !== beat) {
      this.#seen.set(token, { beat, since: now, isRenewed: before !== undefined });
      return this.#unexpired(owner, before !== undefined, leaseMs);
    }
    const remaining = before.since + leaseMs - (readFrom ?? now);
    if (remaining <= 0) return { state: 'expired', expiresInMs: null };
    return this.#unexpired(owner, before.isRenewed, remaining);
  }

  /** Whether the owner is proven to have exited. Only then is it certain that it writes nothing any more. */
  hasExited(owner: Lease['owner']): boolean {
    return !this.#processes.isRunning(owner);
  }

  /** Drops what is known of a lease that is over. */
  forget(token: string): void {
    this.#seen.delete(token);
  }

  #unexpired(owner: Lease['owner'], isRenewed: boolean, remaining: number): LeaseState {
    const isKnown = isRenewed || this.#processes.whyUnchecked(owner) === null;
    return isKnown
      ? { state: 'running', expiresInMs: null }
      : { state: 'unknown', expiresInMs: Math.ceil(remaining) };
  }
}

/** Renews the leases of one opening of a store in each third of a lease, while it has claimed something. */
export class HeartbeatTimer {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #interval: number;
  readonly #renew: () => void;
  #cancel: (() => void) | null = null;

  /** `renew` does not throw: a renewal that the system refuses is repeated after the next interval. */
  constructor(clock: Pick<Clock, 'after'>, leaseMs: number, renew: () => void) {
    this.#clock = clock;
    this.#interval = leaseMs / 3;
    this.#renew = renew;
  }

  /** Starts the timer, unless it runs. It does not keep the process running. */
  start(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(
      this.#interval,
      () => {
        this.#cancel = null;
        this.start();
        this.#renew();
      },
      { keepsProcess: false },
    );
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
