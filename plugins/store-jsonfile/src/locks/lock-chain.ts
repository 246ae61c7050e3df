import type { ClaimState, StoreError } from '@hansard/provider';
import {
  describeOwner,
  HeartbeatWatch,
  type Lease,
  type LeaseState,
  leaseRefused,
  orMissing,
  parseLease,
} from '@hansard/store-kit';
import { OpenFile } from '../lines/open-file.ts';
import type { StoreSystem } from '../store-system.ts';

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
  /** The same for a thing that is created now, whose `recorded` fails if another opening has created it. */
  readonly recordedNow?: () => number;
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

/** A lock file, as it was read. */
export interface LockFile {
  readonly path: string;
  readonly epoch: number;
  /** Null if the file is not a lease. */
  readonly lease: Lease | null;
  /** Whether a loss of power left no content, or only its beginning: a lock appears complete. */
  readonly isTorn: boolean;
  readonly inode: number;
  /** The time of its heartbeat. */
  readonly beat: number;
  /** The monotonic time from before it was read. */
  readonly readFrom: number;
}

/** Null if there is no such file. */
export function readLockFile(
  { files, clock }: Pick<StoreSystem, 'files' | 'clock'>,
  path: string,
  epoch: number,
): LockFile | null {
  // Costs less than a refused `open`, and most locks that are looked for do not exist.
  if (orMissing(() => files.lstat(path)) === null) return null;
  const readFrom = clock.monotonic();
  const file = orMissing(() => OpenFile.open(files, path, 'read'));
  if (file === null) return null;
  try {
    const text = file.readText();
    const { ino, mtimeMs } = file.stats();
    const lease = parseLease(text);
    return { path, epoch, lease, isTorn: isTornText(text), inode: ino, beat: mtimeMs, readFrom };
  } finally {
    file.close();
  }
}

export function lockPath(path: string, epoch: number): string {
  return `${path}.${epoch}`;
}

/** Nothing, zeros, or JSON without its end. The lock of a later version is complete JSON, or it begins otherwise. */
function isTornText(text: string): boolean {
  return text === '' || text.includes('\0') || (text.startsWith('{') && !text.trimEnd().endsWith('}'));
}
