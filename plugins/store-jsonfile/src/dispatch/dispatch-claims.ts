import { join } from 'node:path';
import { type ClaimState, type StoreError, storeErrors } from '@hansard/provider';
import {
  dispatchExists,
  dispatchNotClaimed,
  isSystemError,
  orMissing,
  unlockCommand,
} from '@hansard/store-kit';
import type { Files } from '../files.ts';
import type { LockPlace } from '../locks/lock-chain.ts';
import type { TakenLock, WriterLocks } from '../locks/writer-locks.ts';
import type { StoreSystem } from '../store-system.ts';
import { type DispatchName, readRecordedEpoch } from './dispatch-file.ts';

/** Milliseconds. A write is acknowledged only if the last check of the claim and of the place of the file is not older. */
export const checkInterval = 50;
/** Milliseconds, longer than `checkInterval`. */
const fencingPause = 60;

/**
 * The claim of a dispatch whose earlier owners were stopped: each event that they acknowledged is in the file, and no copy of theirs can still get its
 * name (see `fenceDispatch`). Only `DispatchClaims` makes one, and nothing replaces, rewrites, repairs or removes a
 * file without it. It cannot be used after the release, because its lock is then missing.
 */
class Fenced {
  readonly name: DispatchName;
  readonly #claims: DispatchClaims;

  constructor(claims: DispatchClaims, name: DispatchName) {
    this.#claims = claims;
    this.name = name;
  }

  /** @throws STORE_LOCKED if this opening has lost or released the claim */
  get lock(): TakenLock {
    return this.#claims.lockOf(this.name);
  }

  /** Whether the claim of this opening has not been taken over. */
  get isKept(): boolean {
    return this.#claims.isKept(this.name);
  }

  /** @throws STORE_LOCKED unless it is kept */
  assertKept(): void {
    if (!this.isKept) throw this.#claims.missing(this.name);
  }

  /** Removes the locks that were lost to this claim. The dispatch has recorded its number. */
  removeLost(): void {
    this.#claims.removeLost(this.name);
  }
}

export type FencedClaim = Fenced;

/** How a claim is taken. */
interface TakeOptions {
  /** The last lock counts as expired. */
  readonly isForced?: boolean;
  /** Looks for copies in the folder as it is now. */
  readonly isThorough?: boolean;
}

/** The dispatches that this opening of the store has claimed. It has the lock of each until it releases or loses it. */
export class DispatchClaims {
  readonly #leftCopies: LeftCopies;
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  /** By the path of the lock. */
  readonly #claimed = new Map<string, FencedClaim>();

  constructor(system: StoreSystem, locks: WriterLocks, leftCopies: LeftCopies) {
    this.#system = system;
    this.#locks = locks;
    this.#leftCopies = leftCopies;
  }

  has({ paths }: DispatchName): boolean {
    return this.#claimed.has(paths.lock);
  }

  all(): DispatchName[] {
    return [...this.#claimed.values()].map(({ name }) => name);
  }

  /** The lock of a claimed dispatch. @throws STORE_LOCKED */
  lockOf(name: DispatchName): TakenLock {
    const lock = this.has(name) ? this.#locks.get(name.paths.lock) : null;
    if (lock === null) throw this.missing(name);
    return lock;
  }

  /** The claim of a claimed dispatch. @throws STORE_LOCKED */
  claimOf(name: DispatchName): FencedClaim {
    const claim = this.#claimed.get(name.paths.lock);
    if (claim === undefined) throw this.missing(name);
    return claim;
  }

  /** Claims a dispatch that does not exist yet. @throws STORE_DISPATCH_EXISTS, including when another opening creates it now */
  takeNew(name: DispatchName): FencedClaim {
    const { taskDir, dispatchId, paths } = name;
    const recorded = () => {
      if (this.#system.files.stat(paths.file) === null) return 0;
      throw dispatchExists(taskDir, dispatchId);
    };
    // The claim of a dispatch that exists is not touched. One of a deleted dispatch can have been taken over.
    if (this.has(name)) recorded();
    if (this.has(name) && !this.isKept(name)) this.release(name);
    try {
      const place = this.#placeOf(name);
      this.#locks.take({ ...place, recorded, recordedNow: place.recorded, isNew: true });
    } catch (error) {
      throw storeErrors.is(error, 'STORE_LOCKED') ? dispatchExists(taskDir, dispatchId, error) : error;
    }
    const claim = this.#fenced(name);
    try {
      if (claim.lock.lost.length > 0) removeOtherCopies(this.#system.files, claim);
      return claim;
    } catch (error) {
      this.release(name);
      throw error;
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

  /**
   * The takeover: takes the lock, stops the owners that lost it, and runs `work`. If the work fails, a new claim is released.
   * @throws STORE_LOCKED naming the owner
   */
  whileTaking<T>(name: DispatchName, work: (claim: FencedClaim) => T, options: TakeOptions = {}): T {
    const wasClaimed = this.has(name);
    this.#locks.take(this.#placeOf(name), options.isForced);
    const claim = this.#fenced(name);
    try {
      if (!wasClaimed || options.isThorough) this.#stopLostOwners(claim, options);
      return work(claim);
    } catch (error) {
      if (!wasClaimed) this.release(name);
      throw error;
    }
  }

  /**
   * The same for work that needs no claim before it: a claim that this opening did not have is released again. The work puts a new file into the
   * place of the dispatch, or removes the file, or changes nothing.
   * @throws STORE_LOCKED naming the owner
   */
  whileOwning<T>(name: DispatchName, work: (claim: FencedClaim) => T): T {
    // Another opening has taken it over, and may have released it since.
    if (this.has(name) && !this.isKept(name)) this.release(name);
    const wasClaimed = this.has(name);
    const workAndRelease = (claim: FencedClaim) => {
      const result = work(claim);
      if (!wasClaimed) this.release(name);
      return result;
    };
    return this.whileTaking(name, workAndRelease, { isThorough: true });
  }

  /** Steps 1 and 2 of the fence. */
  #stopLostOwners(claim: FencedClaim, { isThorough = false }: TakeOptions): void {
    const { name } = claim;
    const { lost, isFreeOfWriters } = claim.lock;
    if (lost.length > 0 && !isFreeOfWriters) this.#system.pause(fencingPause);
    const hasCopies = lost.length === 0 && !isThorough ? this.#leftCopies.take(name) : true;
    if (hasCopies) removeOtherCopies(this.#system.files, claim);
  }

  #fenced(name: DispatchName): FencedClaim {
    const claim = this.#claimed.get(name.paths.lock) ?? new Fenced(this, name);
    this.#claimed.set(name.paths.lock, claim);
    return claim;
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

const copyName = /^\.(.+)\.(\d+)(?:\.tmp|\.([\w-]+)\.gone)$/;

/** A copy of a dispatch, or the folder of its deletion, by its name. */
interface CopyName {
  readonly dispatchId: string;
  /** The number of the lock of its owner. */
  readonly epoch: number;
  /** Of a deletion: the token of the lease of its owner. */
  readonly token: string | null;
}

/** Null for the name of another file. */
export function parseCopyName(name: string): CopyName | null {
  const [, dispatchId, epoch, token = null] = copyName.exec(name) ?? [];
  return dispatchId === undefined ? null : { dispatchId, epoch: Number(epoch), token };
}

/**
 * Removes every copy of a claimed dispatch that has another number, and every folder of a deletion. Killed owners left them, and owners that lost
 * the dispatch had begun them. A greater number is of an earlier dispatch with this id, or of an owner that has taken this one over: then its copy stays.
 */
function removeOtherCopies(files: Files, claim: FencedClaim): void {
  const { name } = claim;
  const { folder, temporary, gone } = name.paths;
  const { epoch } = claim.lock;
  const others = copiesIn(files, folder).filter(
    (copy) => copy.dispatchId === name.dispatchId && (copy.epoch !== epoch || copy.token !== null),
  );
  // After the folder was read: the owner of a greater number has created its lock before its copy.
  const isLast = others.some((copy) => copy.epoch > epoch) && claim.isKept;
  for (const copy of others) {
    if (copy.epoch > epoch && !isLast) continue;
    if (copy.token === null) files.remove(temporary(copy.epoch));
    else discard(files, gone(copy.epoch, copy.token));
  }
}

/** Removes the folder of a deletion, with what its owner has moved there or moves there now. */
export function discard(files: Files, folder: string): void {
  for (;;) {
    for (const { name } of orMissing(() => files.list(folder)) ?? []) files.remove(join(folder, name));
    try {
      files.removeFolder(folder);
      return;
    } catch (error) {
      if (!isSystemError(error) || (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST')) throw error;
    }
  }
}

/**
 * The copies that were in a folder before the first claim of this opening in it. A claim that no other opening has lost reads only
 * these, because reading the folder takes longer than the claim. A copy that is left later is beside the lock of its owner.
 */
export class LeftCopies {
  readonly #files: Files;
  /** The ids of dispatches that have copies, by folder. */
  readonly #byFolder = new Map<string, Set<string>>();

  constructor(files: Files) {
    this.#files = files;
  }

  /** Whether a dispatch had a copy. True once. */
  take({ dispatchId, paths }: DispatchName): boolean {
    const { folder } = paths;
    let ids = this.#byFolder.get(folder);
    if (ids === undefined) {
      ids = new Set(copiesIn(this.#files, folder).map((copy) => copy.dispatchId));
      this.#byFolder.set(folder, ids);
    }
    return ids.delete(dispatchId);
  }
}

function copiesIn(files: Files, folder: string): CopyName[] {
  const entries = orMissing(() => files.list(folder)) ?? [];
  return entries.flatMap(({ name }) => parseCopyName(name) ?? []);
}
