import { join } from 'node:path';
import { isStoreError, StoreError } from '@hansard/provider';
import {
  createLease,
  encodeLease,
  hasExpired,
  isSystemError,
  type Lease,
  leaseRefused,
  linkIfFree,
  orMissing,
  parseLease,
} from '@hansard/store-kit';
import { names } from './disk-format.ts';
import { readText, replaceFile } from './lines/open-file.ts';
import type { StoreSystem } from './store-system.ts';

const mostAttempts = 100;

/** A lock file in the chain of a lock. */
interface Link {
  readonly path: string;
  /** Null if the file is not a lease. A lock appears complete, so its owner wrote it before a loss of power. */
  readonly lease: Lease | null;
}

/**
 * The locks of one opening of a store. A lock is a file at the path of the lock, for as long as it is taken.
 *
 * Invariant: at most one opening has a lock. No opening moves or removes a lock of another one whose process may be running.
 *
 * To take a lock:
 * 1. Write the lease of this opening once, to a file of its own in the folder of writers.
 * 2. Follow the chain: the lock at its path, then the file that is named after the token of that lock, and so on, to a name
 *    that is free. If the lease of any link has not expired, refuse with STORE_LOCKED. A link without a readable lease counts
 *    as expired.
 * 3. Link the own lease to the free name. The link is complete as soon as it exists, and of several openings exactly one
 *    creates it. If another one did, begin again with step 2.
 * 4. Read the chain again. If a link is missing or has another token, another opening has ended a takeover meanwhile: remove
 *    the own link and begin again with step 2.
 * 5. Rename the own link to the path of the lock, over the expired one. With an empty chain it has that path already.
 * 6. Remove the other expired links and the leases of their owners.
 *
 * Why this keeps the invariant: only the owner of the last link reaches step 5. A competitor that follows the chain meets that
 * link in step 2 and is refused, because its owner is running. A competitor that read the chain before cannot create the same
 * link in step 3, or, after step 5 has freed the name, finds another token at the path in step 4. If the owner of the last link
 * exits before step 5, its link is one more expired link, and the next opening continues after it.
 *
 * To release a lock: remove the file if it still has the own token. If the system refuses that, for instance because too many
 * files are open, the opening keeps the lock, and tries again with the next lock that it takes or releases.
 */
export class WriterLocks {
  readonly #system: StoreSystem;
  readonly #folder: string;
  /** Null until the first lock, because readers need none. */
  #own: Lease | null = null;
  readonly #taken = new Set<string>();
  /** Those of the taken locks that are released, but whose files the system refused to remove. */
  readonly #unreleased = new Set<string>();

  /** `folder` is the folder of writers, on the same file system as the locks. */
  constructor(system: StoreSystem, folder: string) {
    this.#system = system;
    this.#folder = folder;
  }

  /** Takes a lock. One that this opening has already taken stays taken. @throws STORE_LOCKED naming the owner */
  take(path: string): void {
    this.#unreleased.delete(path);
    if (this.#taken.has(path)) return;
    this.#retryReleases();
    const lease = this.#writeLease();
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      if (this.#tryToTake(path, lease)) return;
    }
    throw new StoreError(
      'STORE_LOCKED',
      `The lock ${path} cannot be taken, because other processes take and release it all the time. Try again later.`,
      { details: { owner: 'several processes', file: path } },
    );
  }

  /** The STORE_LOCKED that `take` would throw now for the owner of the lock; null if there is no owner that may be running. */
  refusal(path: string): StoreError | null {
    const lease = this.#read(path)?.lease ?? null;
    return lease === null || hasExpired(lease) ? null : locked(path, lease);
  }

  /** Releases a lock. One that this opening has not taken is left alone. */
  release(path: string): void {
    if (this.#taken.has(path)) this.#unreleased.add(path);
    this.#retryReleases();
  }

  /** Releases every lock. @throws the first refusal of the system, after it has tried all */
  releaseAll(): void {
    for (const path of this.#taken) this.#unreleased.add(path);
    this.#retryReleases();
    for (const path of this.#unreleased) this.#remove(path);
    if (this.#own !== null) this.#system.files.remove(this.#leaseFile(this.#own));
  }

  #retryReleases(): void {
    for (const path of this.#unreleased) {
      try {
        this.#remove(path);
      } catch (error) {
        if (!isSystemError(error) && !isStoreError(error)) throw error;
      }
    }
  }

  #remove(path: string): void {
    const token = this.#read(path)?.lease?.token;
    if (token !== undefined && token === this.#own?.token) this.#system.files.remove(path);
    this.#unreleased.delete(path);
    this.#taken.delete(path);
  }

  /** Step 1. */
  #writeLease(): Lease {
    const { files } = this.#system;
    this.#own ??= createLease();
    const file = this.#leaseFile(this.#own);
    if (files.stat(file) === null) {
      files.makeFolder(this.#folder);
      replaceFile(files, file, file + names.temporary, Buffer.from(encodeLease(this.#own)), false);
    }
    return this.#own;
  }

  /** Steps 2 to 6; false if they must begin again. */
  #tryToTake(path: string, own: Lease): boolean {
    const { files } = this.#system;
    const expired: Link[] = [];
    let free = path;
    for (let link = this.#read(free); link !== null; link = this.#read(free)) {
      if (link.lease !== null && !hasExpired(link.lease)) throw locked(link.path, link.lease);
      expired.push(link);
      free = link.lease === null ? free + names.unreadable : `${path}.${link.lease.token}`;
    }
    if (!linkIfFree(this.#leaseFile(own), free, files.link)) return false;
    try {
      if (expired.some((link) => this.#hasChanged(link))) return false;
      if (free !== path) files.rename(free, path);
      this.#taken.add(path);
    } finally {
      if (!this.#taken.has(path)) files.remove(free);
    }
    for (const link of expired.slice(1)) files.remove(link.path);
    for (const { lease } of expired) if (lease !== null) files.remove(this.#leaseFile(lease));
    return true;
  }

  #read(path: string): Link | null {
    const text = orMissing(() => readText(this.#system.files, path, 'read'));
    return text === null ? null : { path, lease: parseLease(text) };
  }

  #hasChanged({ path, lease }: Link): boolean {
    const now = this.#read(path);
    return now === null || now.lease?.token !== lease?.token;
  }

  #leaseFile({ token }: Lease): string {
    return join(this.#folder, `${token}.json`);
  }
}

function locked(path: string, lease: Lease): StoreError {
  return leaseRefused(lease, {
    what: `The lock ${path}`,
    howToRelease: `remove ${path}`,
    details: { file: path },
  });
}
