import { randomUUID } from 'node:crypto';
import { type ClaimState, type Clock, type StoreError, storeErrors, systemClock } from '@hansard/provider';
import {
  describeOwner,
  type Processes,
  type ProcessOwner,
  systemProcesses,
  toOwner,
} from './process-owner.ts';

/** Milliseconds. The time without a heartbeat after which a claim expires, if the options of a store do not say another. */
export const defaultLeaseMs = 15_000;

/** The right of one opening of a store to write dispatches, as the store records it for other openings. Plain data. */
export interface Lease {
  /** Identifies the opening, also among those of one process: 1 to 64 of `A-Z a-z 0-9 _ -`. It can be part of a file name. */
  readonly token: string;
  readonly owner: ProcessOwner;
  /** Milliseconds. The owner promises a heartbeat in each third of this time. */
  readonly leaseMs: number;
}

/** A lease of this process with a new token. One opening of a store uses one lease for all dispatches that it claims. */
export function createLease(leaseMs: number = defaultLeaseMs, processes: Processes = systemProcesses): Lease {
  return { token: randomUUID(), owner: processes.current(), leaseMs };
}

/** A lease as one line of JSON: the fields of the owner, `leaseMs` and `token`. */
export function encodeLease({ token, owner, leaseMs }: Lease): string {
  return JSON.stringify({ ...owner, leaseMs, token });
}

/** The lease in the text that `encodeLease` made. Null if the text is not one; the store decides what that means. */
export function parseLease(text: string): Lease | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (toOwner(value) === null) return null;
  const { token, leaseMs, ...owner } = value as ProcessOwner & Record<string, unknown>;
  if (typeof token !== 'string' || !/^[\w-]{1,64}$/.test(token)) return null;
  return typeof leaseMs === 'number' && leaseMs > 0 ? { token, owner, leaseMs } : null;
}

/** Whether the owner of a lease is proven to have exited. Otherwise only its heartbeat says whether the lease has expired. */
export function hasExpired({ owner }: Pick<Lease, 'owner'>): boolean {
  return !systemProcesses.isRunning(owner);
}

/**
 * The STORE_LOCKED for a lease of another opening. It names the owner by its process id, as the contract asks, and has
 * `expiresInMs` in its details.
 */
export function leaseRefused(
  { owner }: Pick<Lease, 'owner'>,
  {
    what,
    howToRelease,
    expiresInMs = null,
    details,
  }: {
    /** The thing that is claimed, at the beginning of a sentence: `Dispatch 01JQ…`. */
    readonly what: string;
    /** The manual way to end the lease, as an imperative: `run ${unlockCommand(…)}`. */
    readonly howToRelease: string;
    /** From `HeartbeatWatch`. Absent or null: it is not known, or the owner renews its claim. */
    readonly expiresInMs?: number | null;
    readonly details: Readonly<Record<string, unknown>>;
  },
  processes: Processes = systemProcesses,
): StoreError {
  const name = describeOwner(owner, processes);
  const expiry =
    expiresInMs === null
      ? ''
      : ` Its claim expires in ${Math.ceil(expiresInMs / 1_000)} s if its owner does not renew it.`;
  return storeErrors.error(
    'STORE_LOCKED',
    `${what} belongs to ${name}.${expiry} Wait until it is released. If that process no longer runs, ${howToRelease}.`,
    { details: { owner: name, expiresInMs, ...details } },
  );
}

/** The command that ends the claim of a dispatch, for `howToRelease`. */
export function unlockCommand(taskDir: string, dispatchId: string): string {
  return `hansard store unlock ${wordOf(taskDir)}/${dispatchId}`;
}

/** A task as an argument of a command. */
export function wordOf(taskDir: string): string {
  return /^[\w./-]+$/.test(taskDir) ? taskDir : `'${taskDir.replaceAll("'", "'\\''")}'`;
}

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
