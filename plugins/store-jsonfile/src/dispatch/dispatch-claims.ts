import { type ClaimState, type StoreError, storeErrors } from '@hansard/provider';
import { dispatchExists, dispatchNotClaimed, orMissing, unlockCommand } from '@hansard/store-kit';
import type { LockPlace } from '../locks/lock-chain.ts';
import type { TakenLock, WriterLocks } from '../locks/writer-locks.ts';
import type { StoreSystem } from '../store-system.ts';
import { type DispatchName, readRecordedEpoch } from './dispatch-file.ts';

/** The dispatches that this opening of the store has claimed. It has the lock of each until it releases or loses it. */
export class DispatchClaims {
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  /** By the path of the lock. */
  readonly #claimed = new Map<string, DispatchName>();

  constructor(system: StoreSystem, locks: WriterLocks) {
    this.#system = system;
    this.#locks = locks;
  }

  has({ paths }: DispatchName): boolean {
    return this.#claimed.has(paths.lock);
  }

  all(): DispatchName[] {
    return [...this.#claimed.values()];
  }

  /** The lock of a claimed dispatch. @throws STORE_LOCKED */
  lockOf(name: DispatchName): TakenLock {
    const lock = this.has(name) ? this.#locks.get(name.paths.lock) : null;
    if (lock === null) throw this.missing(name);
    return lock;
  }

  /** Claims a dispatch, unless it is claimed already. @throws STORE_LOCKED naming the owner */
  take(name: DispatchName, isForced = false): TakenLock {
    const lock = this.#locks.take(this.#placeOf(name), isForced);
    this.#claimed.set(name.paths.lock, name);
    return lock;
  }

  /** Claims a dispatch that does not exist yet. @throws STORE_DISPATCH_EXISTS, including when another opening creates it now */
  takeNew(name: DispatchName): TakenLock {
    const { taskDir, dispatchId, paths } = name;
    const recorded = () => {
      if (this.#system.files.stat(paths.file) === null) return 0;
      throw dispatchExists(taskDir, dispatchId);
    };
    // The claim of a dispatch that exists is not touched.
    if (this.has(name)) recorded();
    try {
      const lock = this.#locks.take({ ...this.#placeOf(name), recorded, isNew: true });
      this.#claimed.set(paths.lock, name);
      return lock;
    } catch (error) {
      throw storeErrors.is(error, 'STORE_LOCKED') ? dispatchExists(taskDir, dispatchId, error) : error;
    }
  }

  /** Whether the claim of this opening has not been taken over. */
  isKept(name: DispatchName): boolean {
    return this.#locks.isKept(this.lockOf(name));
  }

  /** Removes the locks that were lost to this claim. The dispatch has recorded its number. */
  removeLost(name: DispatchName): void {
    this.#locks.removeLost(this.lockOf(name));
  }

  release({ paths }: DispatchName): void {
    if (this.#claimed.delete(paths.lock)) this.#locks.release(paths.lock);
  }

  /** Claims a dispatch and runs `work`. If the work fails, a new claim is released. */
  whileTaking<T>(name: DispatchName, work: () => T, isForced = false): T {
    const wasClaimed = this.has(name);
    this.take(name, isForced);
    try {
      return work();
    } catch (error) {
      if (!wasClaimed) this.release(name);
      throw error;
    }
  }

  /** The claim of any opening; null if the dispatch is free. */
  stateOf(name: DispatchName): ClaimState | null {
    return this.#locks.stateOf(this.#placeOf(name));
  }

  /** The error of a write to a dispatch that this opening has not claimed. It names the owner if there is one. */
  missing(name: DispatchName): StoreError {
    return dispatchNotClaimed(name.taskDir, name.dispatchId, this.#locks.refusal(this.#placeOf(name)));
  }

  #placeOf({ taskDir, dispatchId, paths }: DispatchName): LockPlace {
    const { files } = this.#system;
    return {
      path: paths.lock,
      what: `Dispatch ${dispatchId}`,
      howToRelease: `run ${unlockCommand(taskDir, dispatchId)}`,
      details: { taskDir, dispatchId },
      recorded: () =>
        orMissing(() => files.stat(paths.file)) === null ? 0 : readRecordedEpoch(files, paths.file),
    };
  }
}
