import { StoreError } from '@hansard/provider';
import type { WriterLocks } from '../writer-lock.ts';
import type { DispatchName } from './dispatch-file.ts';

/** The dispatches that this opening of the store may write: for each one it has the lock, until it releases it. */
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

  /** Claims a dispatch; one that is claimed already stays so. @throws STORE_LOCKED naming the owner */
  take(name: DispatchName): void {
    if (this.has(name)) return;
    this.#locks.take(name.paths.lock);
    this.#claimed.set(name.paths.lock, name);
  }

  release({ paths }: DispatchName): void {
    if (this.#claimed.delete(paths.lock)) this.#locks.release(paths.lock);
  }

  /** Runs `work` on a claimed dispatch. A claim that was made for it is released where it fails. */
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

  /** The error of a write to a dispatch that is not claimed here; it names the owner where there is one. */
  missing({ taskDir, dispatchId, paths }: DispatchName): StoreError {
    const message = `This opening of the store has not claimed dispatch ${dispatchId} of ${taskDir}; claim it first.`;
    const locked = this.#locks.refusal(paths.lock);
    if (locked === null) return new StoreError('STORE_LOCKED', message, { details: { taskDir, dispatchId } });
    return new StoreError('STORE_LOCKED', `${message} ${locked.message}`, {
      details: { taskDir, dispatchId, ...locked.details },
    });
  }
}
