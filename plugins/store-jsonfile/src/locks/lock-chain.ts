import type { ClaimState, StoreError } from '@hansard/provider';
import { describeOwner, HeartbeatWatch, type Lease, type LeaseState, leaseRefused } from '@hansard/store-kit';
import type { StoreSystem } from '../store-system.ts';
import { type LockFile, lockPath, readLockFile } from './lock-file.ts';

/** A thing that at most one opening may write. */
export interface LockPlace {
  /** The path of its locks, without their numbers. */
  readonly path: string;
  /** The thing, at the beginning of a sentence. */
  readonly what: string;
  /** As an imperative. */
  readonly howToRelease: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The number that the thing itself has recorded, read now; 0 if it does not exist or records none. */
  readonly recorded: () => number;
  /**
   * Whether it is created now, so that its first number is free as a rule. Then a taker tries that number before it looks for
   * locks, and does not read the recorded number again: of several that create a thing, exactly one creates its file.
   */
  readonly isNew?: boolean;
}

const unknownOwner: Lease['owner'] = {
  pid: 0,
  host: 'an unknown host',
  startTime: null,
  bootId: null,
  pidNamespace: null,
};

/** Finds and judges the locks of all openings. */
export class LockChain {
  readonly #system: StoreSystem;
  readonly #leaseMs: number;
  readonly #watch: HeartbeatWatch;

  constructor(system: StoreSystem, leaseMs: number) {
    this.#system = system;
    this.#leaseMs = leaseMs;
    this.#watch = new HeartbeatWatch(system.clock, system.processes);
  }

  /** The locks of a place from the recorded number on, in their order. */
  follow({ path }: LockPlace, from: number): LockFile[] {
    const found: LockFile[] = [];
    for (let epoch = Math.max(from, 1); ; epoch += 1) {
      const lock = readLockFile(this.#system, lockPath(path, epoch), epoch);
      if (lock !== null) found.push(lock);
      else if (epoch > from) return found;
    }
  }

  /**
   * The last lock of a place, whose owner has it; undefined if the place is free. A lock that is removed while the numbers are read
   * can have been followed by another: the recorded number says so.
   */
  last(place: LockPlace): LockFile | undefined {
    for (;;) {
      const recorded = place.recorded();
      const last = this.follow(place, recorded).at(-1);
      if (last !== undefined || place.recorded() === recorded) return last;
    }
  }

  /** The claim of another opening. */
  stateOf(lock: LockFile): ClaimState {
    return {
      owner: describeOwner(ownerOf(lock), this.#system.processes),
      isOwn: false,
      ...this.#judge(lock),
    };
  }

  /** The STORE_LOCKED for the lock of another opening; null if it has expired. */
  refusal({ what, howToRelease, details }: LockPlace, lock: LockFile): StoreError | null {
    const { state, expiresInMs } = this.#judge(lock);
    if (state === 'expired') return null;
    const refusal = { what, howToRelease, expiresInMs, details: { file: lock.path, ...details } };
    return leaseRefused({ owner: ownerOf(lock) }, refusal, this.#system.processes);
  }

  /** Whether the owner is proven to have exited. */
  hasExited({ lease }: LockFile): boolean {
    return lease !== null && this.#watch.hasExited(lease.owner);
  }

  forget(token: string): void {
    this.#watch.forget(token);
  }

  #judge({ path, lease, isTorn, beat, readFrom }: LockFile): LeaseState {
    if (lease !== null) return this.#watch.observe(lease, beat, readFrom);
    if (!isTorn) return { state: 'unknown', expiresInMs: null };
    const unknown = { token: path, owner: unknownOwner, leaseMs: this.#leaseMs };
    return this.#watch.observe(unknown, beat, readFrom);
  }
}

function ownerOf({ lease }: LockFile): Lease['owner'] {
  return lease?.owner ?? unknownOwner;
}
