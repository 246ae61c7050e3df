/** A promise of the contract that did not hold. */
export class BrokenPromise extends Error {}

export const absent = 'absent';

/** A value that was written or may have been. Times are numbers of calls; infinity while the write is in progress. */
interface Candidate {
  readonly value: string;
  readonly began: number;
  ended: number;
  /** When a later write was acknowledged. Since then no read may begin that returns the value. */
  supersededAt: number;
  /** A rewrite changes what is there, and makes nothing that is not. */
  readonly isOfPresent: boolean;
}

export interface WriteInProgress {
  readonly register: Register;
  readonly candidate: Candidate;
}

/**
 * What a read may return of one value that several processes write: the last acknowledged write, each write in progress, and
 * each write whose result nobody knows, until a later one is acknowledged.
 */
export class Register {
  #candidates: Candidate[] = [];

  constructor(value: string) {
    this.#candidates.push({ value, began: 0, ended: 0, supersededAt: Infinity, isOfPresent: false });
  }

  begin(value: string, began: number, isOfPresent = false): WriteInProgress {
    const candidate = { value, began, ended: Infinity, supersededAt: Infinity, isOfPresent };
    this.#candidates.push(candidate);
    return { register: this, candidate };
  }

  /** A write was acknowledged: what had ended before it began is over. */
  acknowledge(write: Candidate, now: number): void {
    write.ended = now;
    for (const other of this.#candidates) {
      if (other === write || other.ended >= write.began || other.supersededAt < Infinity) continue;
      if (write.isOfPresent && other.value === absent) continue;
      other.supersededAt = now;
    }
  }

  /** Nobody knows whether a write that has ended had an effect. */
  leave(write: Candidate, now: number): void {
    write.ended = now;
  }

  /** A write had no effect. */
  withdraw(write: Candidate): void {
    this.#candidates = this.#candidates.filter((other) => other !== write);
  }

  /** Everything that a read which began at `since` may return, without the effect of `own`. */
  allowed(since: number, own: readonly WriteInProgress[] = []): Set<string> {
    const found = this.#candidates.filter(
      (one) => one.supersededAt >= since && !own.some(({ candidate }) => candidate === one),
    );
    return new Set(found.map(({ value }) => value));
  }

  isPresent(since: number): boolean {
    return !this.allowed(since).has(absent);
  }

  /** Forgets what no read that began at `oldest` or later may return. */
  prune(oldest: number): void {
    if (this.#candidates.length > 6)
      this.#candidates = this.#candidates.filter(({ supersededAt }) => supersededAt >= oldest);
  }
}
