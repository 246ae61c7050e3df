import type { StoreError } from '@hansard/provider';
import { dispatchNotClaimed } from '@hansard/store-kit';
import type { WriterLocks } from '../writer-locks.ts';
import type { DispatchName } from './dispatch-file.ts';

/** The dispatches that this opening of the store has claimed. It has the lock of each until it releases the dispatch. */
export class DispatchClaims {
  readonly #locks: WriterLocks;
  /** By the path of the lock. */
  readonly #claimed = new Map<string, DispatchName>();

  constructor(locks: WriterLocks) {
    this.#locks = locks;
  }

  has({ paths }: DispatchName): boolean {
    return this.#claimed.has(paths.lock);
  }

  all(): DispatchName[] {
    return [...this.#claimed.values()];
  }

  /** Claims a dispatch, unless it is claimed already. @throws STORE_LOCKED naming the owner */
  take(name: DispatchName): void {
    if (this.has(name)) return;
    this.#locks.take(name.paths.lock);
    this.#claimed.set(name.paths.lock, name);
  }

  release({ paths }: DispatchName): void {
    if (this.#claimed.delete(paths.lock)) this.#locks.release(paths.lock);
  }

  /** Claims a dispatch and runs `work`. If the work fails, a new claim is released. */
  whileTaking<T>(name: DispatchName, work: () => T): T {
    const wasClaimed = this.has(name);
    this.take(name);
    try {
      return work();
    } catch (error) {
      if (!wasClaimed) this.release(name);
      throw error;
    }
  }

  /** The error of a write to a dispatch that this opening has not claimed. It names the owner if there is one. */
  missing({ taskDir, dispatchId, paths }: DispatchName): StoreError {
    return dispatchNotClaimed(taskDir, dispatchId, this.#locks.refusal(paths.lock));
  }
}
