import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isStoreError, StoreError } from '@hansard/provider';
import { currentProcess, describeOwner, isRunning, type ProcessOwner } from '@hansard/provider/process-owner';
import { isSystemError, orMissing } from './errors.ts';
import { readText, replaceFile } from './lines/file-io.ts';

const mostAttempts = 100;

interface LockContent {
  /** Null where the file can't be read as a lock: locks come into being whole, so this one's owner fell with the machine. */
  readonly owner: ProcessOwner | null;
  readonly token: string;
}

/**
 * Files that say who may write. A lock comes into being whole and only where there is none: as a hard link to the one
 * file that tells who this store is. The lock of a process which died is followed by another one, named by the dead
 * one's token, and who made that one renames it over the dead one. So only one process can follow any lock, and a lock
 * that lives is never moved aside.
 */
export class WriterLocks {
  readonly #folder: string;
  readonly #token = crypto.randomUUID();
  #owner: ProcessOwner | null = null;
  readonly #held = new Set<string>();
  /** Those of the held ones that were given back while the system refused to look at them. */
  readonly #unreleased = new Set<string>();

  /** `folder` is where stores leave their names; it lies on the same file system as the locks. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Takes a lock, or keeps the one that this store has. @throws STORE_LOCKED naming the owner */
  take(path: string): void {
    this.#unreleased.delete(path);
    if (this.#held.has(path)) return;
    this.#retryReleases();
    this.#leaveName();
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      if (this.#follow(path)) return;
    }
    throw locked(path, 'processes that come and go');
  }

  /** The STORE_LOCKED with which `take` would fail now; null where no running process has the lock. */
  refusal(path: string): StoreError | null {
    const owner = readLock(path)?.owner ?? null;
    return owner === null || !isRunning(owner) ? null : locked(path, this.#describe(owner));
  }

  /**
   * Gives a lock back; one that this store has not is left alone. Where the system refuses, as with too many open files,
   * the store keeps the lock, and gives it back with the next one that it takes or releases, at the latest when it closes.
   */
  release(path: string): void {
    if (this.#held.has(path)) this.#unreleased.add(path);
    this.#retryReleases();
  }

  /** Gives back every lock that the system lets it. @throws what the system refused */
  releaseAll(): void {
    for (const path of this.#held) this.#unreleased.add(path);
    this.#retryReleases();
    for (const path of this.#unreleased) this.#remove(path);
    rmSync(this.#nameFile(this.#token), { force: true });
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
    if (readLock(path)?.token === this.#token) rmSync(path, { force: true });
    this.#unreleased.delete(path);
    this.#held.delete(path);
  }

  #nameFile(token: string): string {
    return join(this.#folder, `${token}.json`);
  }

  #leaveName(): void {
    const file = this.#nameFile(this.#token);
    if (existsSync(file)) return;
    mkdirSync(this.#folder, { recursive: true });
    const content = Buffer.from(JSON.stringify({ ...this.#identify(), token: this.#token }));
    replaceFile(file, `${file}.tmp`, content, false);
  }

  /**
   * Takes over the lock of a process that has exited.
   * 1. Walk the chain: the lock at `path`, then the lock placed after it by a taker, and so on. A running owner anywhere refuses.
   * 2. Link the own lock at the end of the chain, if that place is free; a competitor may have taken it.
   * 3. Read the chain again. If a lock changed, give up: a competitor was faster.
   * 4. Rename the own lock over `path`, then remove the others.
   * Invariant: the owner of the last lock of the chain is the only process that may rename.
   * False if a competitor changed the chain; the caller tries again.
   */
  #follow(path: string): boolean {
    const dead: { readonly path: string; readonly token: string }[] = [];
    let place = path;
    for (let lock = readLock(place); lock !== null; lock = readLock(place)) {
      if (lock.owner !== null && isRunning(lock.owner)) throw locked(place, this.#describe(lock.owner));
      dead.push({ path: place, token: lock.token });
      place = lock.owner === null ? `${place}.unreadable` : `${path}.${lock.token}`;
    }
    if (!linkIfFree(this.#nameFile(this.#token), place)) return false;
    try {
      if (dead.some((lock) => readLock(lock.path)?.token !== lock.token)) return false;
      if (place !== path) renameSync(place, path);
      this.#held.add(path);
    } finally {
      if (!this.#held.has(path)) rmSync(place, { force: true });
    }
    for (const lock of dead.slice(1)) rmSync(lock.path, { force: true });
    for (const lock of dead) rmSync(this.#nameFile(lock.token), { force: true });
    return true;
  }

  #describe(owner: ProcessOwner): string {
    const isThis = isDeepStrictEqual(owner, this.#identify());
    return isThis ? `another open store of this process (${owner.pid})` : describeOwner(owner);
  }

  /** Asked at the first lock, for readers need none. */
  #identify(): ProcessOwner {
    this.#owner ??= currentProcess();
    return this.#owner;
  }
}

function locked(path: string, owner: string): StoreError {
  return new StoreError(
    'STORE_LOCKED',
    `${owner} is writing here. Wait until it is done; if it no longer runs, remove ${path} to release the lock.`,
    { details: { owner, file: path } },
  );
}

function readLock(path: string): LockContent | null {
  const text = orMissing(() => readText(path, 'read'));
  return text === null ? null : parseLock(text);
}

function parseLock(text: string): LockContent {
  try {
    const { token, ...owner } = JSON.parse(text) as ProcessOwner & { token: unknown };
    const isOwner = typeof owner.pid === 'number' && typeof owner.host === 'string';
    if (isOwner && typeof token === 'string' && /^[\w-]{1,64}$/.test(token)) return { owner, token };
  } catch {
    // Not JSON: the same as JSON that is no lock.
  }
  return { owner: null, token: 'unreadable' };
}

function linkIfFree(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}
