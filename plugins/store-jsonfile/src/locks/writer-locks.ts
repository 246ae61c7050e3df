import { join } from 'node:path';
import { type ClaimState, type StoreError, storeErrors } from '@hansard/provider';
import {
  createLease,
  encodeLease,
  HeartbeatTimer,
  isSystemError,
  type Lease,
  linkIfFree,
} from '@hansard/store-kit';
import { names } from '../disk-format.ts';
import { replaceFile } from '../lines/open-file.ts';
import type { StoreSystem } from '../store-system.ts';
import { LockChain, type LockFile, type LockPlace, lockPath, readLockFile } from './lock-chain.ts';
import { currentMoment, elapsedSince, type Moment, never } from './moment.ts';

const mostAttempts = 100;

/** A lock that this opening has taken. */
export interface TakenLock {
  readonly place: LockPlace;
  /** Its number. */
  readonly epoch: number;
  readonly file: string;
  readonly heartbeat: OwnHeartbeat;
  /** The locks before it, whose owners have lost them. */
  readonly lost: readonly LockFile[];
  /** Whether each of these owners is proven to have exited. The others may still write to files that they have opened. */
  readonly isFreeOfWriters: boolean;
}

/**
 * The locks of one opening of a store. A lock is a link to a heartbeat file of its owner, named by the path of the lock and its
 * number (epoch): `ID.lock.7`. The file of the dispatch records a number as well: the greatest whose claim may be over.
 *
 * Invariants:
 * - A number is linked by one opening only, and belongs to that claim for as long as the dispatch exists.
 * - The owner is the opening with the greatest number. The locks before it are lost, even if their heartbeats continue.
 * - Of the locks above the recorded number, only the last one and those that are lost to it can be removed. If the last owner exits before it
 *   has recorded its number, a lost one can be missing below it: a gap, which the next owner fills (step 4).
 *
 * To take a lock:
 * 1. Read the recorded number. Follow the locks from there to the first free number above it.
 * 2. If the lease of the last lock has not expired (`LockChain`), refuse with STORE_LOCKED. A lock that is not a lease
 *    counts as taken; a torn one, which a loss of power leaves, until a lease has passed.
 * 3. Link a heartbeat of this opening to the free number. Of several openings exactly one succeeds; the others begin again.
 * 4. Look for the number above the new link. If it is taken, the new link has filled a gap: leave it as a lost lock, or remove it if its number is
 *    recorded by now, and begin again.
 *    Read the recorded number again. If it has changed, the numbers of step 1 were old: remove the link and begin again.
 * 5. If the owner of a lost lock is not proven to have exited, fence it: see `fenceDispatch`.
 * 6. Record the own number in the dispatch, then remove the lost locks.
 *
 * An owner cannot know that it lost a lock, because it may have been stopped for any time. It checks its lock (`isKept`) before a
 * write, and again before it acknowledges one, whenever the last check is 50 milliseconds old by either clock. Its
 * lock is kept if the next number is free and then its own link exists; the order matters, because the next owner
 * removes the lost lock before its own. With each check it renews its heartbeat if that is due, so a process that writes without
 * a pause keeps its locks although its timer cannot run.
 *
 * To release a lock: record its number in the dispatch, then remove the link, if it is its own. If the system refuses that, for
 * instance because of an I/O error, the opening tries again with each heartbeat and with the next lock that it takes or releases.
 * Its own next claim counts such a lock as expired.
 *
 * Limits: after a dispatch is deleted, a new one with the same id begins again with the first number. An owner that is stopped past its
 * lease between its last check and the removal of the file removes the file of the next owner, whose next call is then STORE_CORRUPT.
 */
export class WriterLocks {
  readonly #system: StoreSystem;
  readonly #heartbeats: OwnHeartbeats;
  readonly #chain: LockChain;
  readonly #timer: HeartbeatTimer;
  readonly #taken = new Map<string, TakenLock>();
  /** Released locks whose files the system refused to remove. */
  readonly #unreleased = new Set<TakenLock>();

  /** `folder` is the folder of writers, on the same file system as the locks. */
  constructor(system: StoreSystem, folder: string, leaseMs: number) {
    this.#system = system;
    this.#heartbeats = new OwnHeartbeats(system, folder, leaseMs);
    this.#chain = new LockChain(system, leaseMs);
    this.#timer = new HeartbeatTimer(system.clock, leaseMs, () => this.#beat());
  }

  /** Milliseconds. */
  get leaseMs(): number {
    return this.#heartbeats.leaseMs;
  }

  get(path: string): TakenLock | null {
    return this.#taken.get(path) ?? null;
  }

  /**
   * Takes a lock, steps 1 to 4. One that this opening has taken stays taken. With `isForced`, the last lock counts as expired.
   * @throws STORE_LOCKED naming the owner
   */
  take(place: LockPlace, isForced = false): TakenLock {
    const taken = this.#taken.get(place.path);
    if (taken !== undefined) return taken;
    this.#retryReleases();
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const lock = this.#tryToTake(place, isForced, place.isNew === true && attempt === 0);
      if (lock === null) continue;
      this.#taken.set(place.path, lock);
      this.#timer.start();
      return lock;
    }
    throw storeErrors.error(
      'STORE_LOCKED',
      `${place.what} cannot be claimed, because other processes claim and release it all the time. Try again later.`,
      { details: { owner: 'several processes', expiresInMs: null, ...place.details } },
    );
  }

  /** Whether a lock of this opening is still the last one. Renews the heartbeat if that is due. */
  isKept({ place, epoch, file, heartbeat }: TakenLock): boolean {
    const { files } = this.#system;
    this.#renewIfDue();
    if (files.lstat(lockPath(place.path, epoch + 1)) !== null) return false;
    return files.lstat(file)?.ino === heartbeat.inode;
  }

  /** The claim of any opening; null if the thing is free. */
  stateOf(place: LockPlace): ClaimState | null {
    const own = this.#taken.get(place.path);
    if (own !== undefined && this.isKept(own)) {
      const owner = `this open store of process ${own.heartbeat.lease.owner.pid}`;
      return { owner, isOwn: true, state: 'running', expiresInMs: null };
    }
    const last = this.#chain.last(place);
    return last === undefined || this.#isOwnRemainder(last) ? null : this.#chain.stateOf(last);
  }

  /** The STORE_LOCKED that `take` would throw now; null if it would not. */
  refusal(place: LockPlace): StoreError | null {
    return this.#refusalBy(place, this.#chain.last(place));
  }

  /** Whether the owner of a lock or a heartbeat is proven to have exited, or a loss of power left nothing of the file. */
  hasExited(path: string): boolean {
    const file = readLockFile(this.#system, path, 0);
    return file !== null && (file.isTorn || this.#chain.hasExited(file));
  }

  /** Step 6: removes the lost locks, after the dispatch has recorded the number of this one. */
  removeLost(lock: TakenLock): void {
    const { files } = this.#system;
    const { lost } = lock;
    for (const other of lost) {
      const { path, lease } = other;
      files.remove(path);
      if (lease === null || this.#heartbeats.owns(lease.token)) continue;
      const heartbeat = this.#heartbeats.fileOf(lease.token);
      // The heartbeat of a process that has exited, or its last name.
      if (this.#chain.hasExited(other) || files.stat(heartbeat)?.nlink === 1) files.remove(heartbeat);
      this.#chain.forget(lease.token);
    }
    this.#taken.set(lock.place.path, { ...lock, lost: [] });
  }

  /** Releases a lock. One that this opening has not taken is left alone. */
  release(path: string): void {
    const lock = this.#taken.get(path);
    this.#taken.delete(path);
    if (lock === undefined) this.#retryReleases();
    else this.#giveUp(lock);
  }

  /** Releases every lock. @throws the first refusal of the system, after it has tried all */
  releaseAll(): void {
    this.#timer.stop();
    for (const path of [...this.#taken.keys()]) this.release(path);
    this.#timer.stop();
    for (const lock of this.#unreleased) this.#remove(lock);
    this.#heartbeats.removeAll();
  }

  /** Steps 1 to 4; null if they must begin again. */
  #tryToTake(place: LockPlace, isForced: boolean, isFirst: boolean): TakenLock | null {
    const recorded = place.recorded();
    const lost = isFirst ? [] : this.#chain.follow(place, recorded);
    const last = lost.at(-1);
    const refusal = isForced ? null : this.#refusalBy(place, last);
    if (refusal !== null) {
      for (const lock of lost) if (this.#isOwnRemainder(lock)) this.#system.files.remove(lock.path);
      throw refusal;
    }
    const epoch = Math.max(recorded, last?.epoch ?? 0) + 1;
    const file = lockPath(place.path, epoch);
    const heartbeat = this.#heartbeats.link(file);
    if (heartbeat === null) return null;
    const isGap = this.#system.files.lstat(lockPath(place.path, epoch + 1)) !== null;
    const isFreeOfWriters = lost.every((lock) => this.#isOwnRemainder(lock) || this.#chain.hasExited(lock));
    const lock = { place, epoch, file, heartbeat, lost, isFreeOfWriters };
    if (isGap) {
      // Nobody follows the locks from before a recorded number, so the link would stay as long as this process.
      if ((place.recordedNow ?? place.recorded)() >= epoch) this.#giveUp(lock);
      return null;
    }
    let isCurrent = false;
    try {
      isCurrent = place.isNew === true || place.recorded() === recorded;
    } finally {
      if (!isCurrent) this.#giveUp(lock);
    }
    return isCurrent ? lock : null;
  }

  #refusalBy(place: LockPlace, last: LockFile | undefined): StoreError | null {
    return last === undefined || this.#isOwnRemainder(last) ? null : this.#chain.refusal(place, last);
  }

  /** Whether this opening has released the lock, and could not remove it. */
  #isOwnRemainder({ path, lease }: LockFile): boolean {
    return lease !== null && this.#heartbeats.owns(lease.token) && !this.#hasTaken(path);
  }

  #hasTaken(file: string): boolean {
    for (const lock of this.#taken.values()) if (lock.file === file) return true;
    return false;
  }

  /** A refusal of the system is repeated with the next heartbeat, and every check of a lock renews as well. */
  #beat(): void {
    try {
      this.#heartbeats.renew();
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
    this.#retryReleases();
  }

  #giveUp(lock: TakenLock): void {
    this.#unreleased.add(lock);
    this.#timer.start();
    this.#retryReleases();
  }

  #renewIfDue(): void {
    try {
      this.#heartbeats.renewIfDue();
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }

  #retryReleases(): void {
    for (const lock of this.#unreleased) {
      try {
        this.#remove(lock);
      } catch (error) {
        if (!isSystemError(error) && !storeErrors.is(error)) throw error;
      }
    }
    if (this.#taken.size + this.#unreleased.size === 0) this.#timer.stop();
  }

  #remove(lock: TakenLock): void {
    const { files } = this.#system;
    if (files.lstat(lock.file)?.ino === lock.heartbeat.inode) files.remove(lock.file);
    lock.heartbeat.locks.delete(lock.file);
    this.#unreleased.delete(lock);
  }
}

/** A heartbeat file of this opening. The locks that are linked to it share its content and its time. */
interface OwnHeartbeat {
  readonly lease: Lease;
  readonly file: string;
  readonly inode: number;
  /** The paths of its locks. */
  readonly locks: Set<string>;
}

/**
 * The heartbeat files of one opening of a store, in the folder of writers. One file is enough until it has as many names as
 * file systems allow; then another one follows. A change of its time is a change of the time of all its locks.
 */
class OwnHeartbeats {
  readonly leaseMs: number;
  readonly #system: StoreSystem;
  readonly #folder: string;
  #heartbeats: OwnHeartbeat[] = [];
  #renewedAt: Moment = never;
  #lastTime = 0;

  constructor(system: StoreSystem, folder: string, leaseMs: number) {
    this.#system = system;
    this.#folder = folder;
    this.leaseMs = leaseMs;
  }

  /** Creates a lock, complete, if its path is free. Null if it is not. */
  link(path: string): OwnHeartbeat | null {
    const { files, mostLinks } = this.#system;
    let heartbeat = this.#heartbeats.at(-1);
    if (heartbeat === undefined || heartbeat.locks.size >= mostLinks) heartbeat = this.#create();
    else this.renewIfDue();
    try {
      return this.#linkTo(heartbeat, path);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // This file system allows fewer names of a file, or another opening has removed the heartbeat file.
      const isFull = error.code === 'EMLINK' && heartbeat.locks.size > 0;
      const isGone = error.code === 'ENOENT' && files.stat(heartbeat.file) === null;
      if (!isFull && !isGone) throw error;
      return this.#linkTo(this.#create(), path);
    }
  }

  /** The heartbeat file of any opening. */
  fileOf(token: string): string {
    return join(this.#folder, `${token}${names.heartbeat}`);
  }

  owns(token: string): boolean {
    return this.#heartbeats.some(({ lease }) => lease.token === token);
  }

  /** Renews all leases if the last renewal is older than a third of a lease. */
  renewIfDue(): void {
    if (elapsedSince(this.#renewedAt, this.#system.clock) >= this.leaseMs / 3) this.renew();
  }

  /** Renews all leases. */
  renew(): void {
    const { clock } = this.#system;
    const before = currentMoment(clock);
    // The time must change, even if the clock was set back. Nobody compares it with a clock.
    this.#lastTime = Math.max(Math.ceil(before.wall), this.#lastTime + 1);
    for (const heartbeat of this.#heartbeats) this.#touch(heartbeat);
    this.#renewedAt = before;
  }

  removeAll(): void {
    const heartbeats = this.#heartbeats;
    this.#heartbeats = [];
    for (const { file } of heartbeats) this.#system.files.remove(file);
  }

  #create(): OwnHeartbeat {
    const { files, clock, processes } = this.#system;
    const lease = createLease(this.leaseMs, processes);
    const file = this.fileOf(lease.token);
    const before = currentMoment(clock);
    files.makeFolder(this.#folder);
    replaceFile(files, file, file + names.temporary, Buffer.from(encodeLease(lease)), false);
    const stats = files.stat(file);
    const heartbeat = { lease, file, inode: stats?.ino ?? -1, locks: new Set<string>() };
    this.#heartbeats = [...this.#heartbeats.filter(({ locks }) => locks.size > 0), heartbeat];
    if (this.#heartbeats.length === 1) this.#renewedAt = before;
    return heartbeat;
  }

  #linkTo(heartbeat: OwnHeartbeat, path: string): OwnHeartbeat | null {
    if (!linkIfFree(heartbeat.file, path, this.#system.files.link)) return null;
    heartbeat.locks.add(path);
    return heartbeat;
  }

  /** If the heartbeat file is gone, because another opening judged its lease as expired, its locks still have its time. */
  #touch({ file, locks }: OwnHeartbeat): void {
    for (const path of [file, ...locks]) {
      try {
        this.#system.files.touch(path, this.#lastTime);
        return;
      } catch (error) {
        if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
      }
    }
  }
}
