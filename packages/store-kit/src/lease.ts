import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type ClaimState, type Clock, type StoreError, storeErrors, systemClock } from '@hansard/provider';

/** The processes of this machine. */
export const systemProcesses: Processes = { current: currentProcess, isRunning, whyUnchecked };

let bootId: string | null | undefined;

/** Milliseconds. The time without a heartbeat after which a claim expires, if the options of a store do not say another. */
export const defaultLeaseMs = 15_000;

/** The right of one opening of a store to write dispatches, as the store records it for other openings. Plain data. */
export interface Lease {
  /** Identifies the opening, also among those of one process: 1 to 64 of `A-Z a-z 0-9 _ -`. It can be part of a file name. */
  readonly token: string;
  readonly owner: ProcessOwner;
  /** Milliseconds. The owner promises a heartbeat in each third of this time. */
  readonly leaseMs: number;
}

/** A lease of this process with a new token. One opening of a store uses one lease for all dispatches that it claims. */
export function createLease(leaseMs: number = defaultLeaseMs, processes: Processes = systemProcesses): Lease {
  return { token: randomUUID(), owner: processes.current(), leaseMs };
}

/** A lease as one line of JSON: the fields of the owner, `leaseMs` and `token`. */
export function encodeLease({ token, owner, leaseMs }: Lease): string {
  return JSON.stringify({ ...owner, leaseMs, token });
}

/** The lease in the text that `encodeLease` made. Null if the text is not one; the store decides what that means. */
export function parseLease(text: string): Lease | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (toOwner(value) === null) return null;
  const { token, leaseMs, ...owner } = value as ProcessOwner & Record<string, unknown>;
  if (typeof token !== 'string' || !/^[\w-]{1,64}$/.test(token)) return null;
  return typeof leaseMs === 'number' && leaseMs > 0 ? { token, owner, leaseMs } : null;
}

/** Whether the owner of a lease is proven to have exited. Otherwise only its heartbeat says whether the lease has expired. */
export function hasExpired({ owner }: Pick<Lease, 'owner'>): boolean {
  return !systemProcesses.isRunning(owner);
}

/**
 * The STORE_LOCKED for a lease of another opening. It names the owner by its process id, as the contract asks, and has
 * `expiresInMs` in its details.
 */
export function leaseRefused(
  { owner }: Pick<Lease, 'owner'>,
  {
    what,
    howToRelease,
    expiresInMs = null,
    details,
  }: {
    /** The thing that is claimed, at the beginning of a sentence: `Dispatch 01JQ…`. */
    readonly what: string;
    /** The manual way to end the lease, as an imperative: `run ${unlockCommand(…)}`. */
    readonly howToRelease: string;
    /** From `HeartbeatWatch`. Absent or null: it is not known, or the owner renews its claim. */
    readonly expiresInMs?: number | null;
    readonly details: Readonly<Record<string, unknown>>;
  },
  processes: Processes = systemProcesses,
): StoreError {
  const name = describeOwner(owner, processes);
  const expiry =
    expiresInMs === null
      ? ''
      : ` Its claim expires in ${Math.ceil(expiresInMs / 1_000)} s if its owner does not renew it.`;
  return storeErrors.error(
    'STORE_LOCKED',
    `${what} belongs to ${name}.${expiry} Wait until it is released. If that process no longer runs, ${howToRelease}.`,
    { details: { owner: name, expiresInMs, ...details } },
  );
}

/** The command that ends the claim of a dispatch, for `howToRelease`. */
export function unlockCommand(taskDir: string, dispatchId: string): string {
  return `hansard store unlock ${wordOf(taskDir)}/${dispatchId}`;
}

/** A task as an argument of a command. */
export function wordOf(taskDir: string): string {
  return /^[\w./-]+$/.test(taskDir) ? taskDir : `'${taskDir.replaceAll("'", "'\\''")}'`;
}

/** The fields of `ClaimState` that say whether a claim can be taken over. */
export type LeaseState = Pick<ClaimState, 'state' | 'expiresInMs'>;

interface Sighting {
  readonly beat: string | number;
  /** When this opening first saw this heartbeat, by its monotonic clock. */
  readonly since: number;
  /** Whether this opening has seen an earlier heartbeat of the same lease. */
  readonly isRenewed: boolean;
}

/**
 * The heartbeats of other openings, as one opening of a store has seen them.
 *
 * A lease expires in one of two ways:
 * 1. Its owner is proven to have exited. It expires at once.
 * 2. This opening has seen the same heartbeat for a whole lease, by its own monotonic clock: at the first and at the last
 *    moment of it. A time that another process wrote is never compared with a clock.
 */
export class HeartbeatWatch {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #processes: Processes;
  /** By the token of the lease. */
  readonly #seen = new Map<string, Sighting>();

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock, processes: Processes = systemProcesses) {
    this.#clock = clock;
    this.#processes = processes;
  }

  /**
   * Notes a heartbeat of a lease, read just now, and judges the lease. `beat` is any value that each renewal changes. `readFrom` is
   * the monotonic time from before it was read, because this process may have been stopped since. It can be absent if
   * nobody could renew the lease between the read and this call.
   */
  observe({ token, owner, leaseMs }: Lease, beat: string | number, readFrom?: number): LeaseState {
    if (this.hasExited(owner)) return { state: 'expired', expiresInMs: null };
    const now = this.#clock.monotonic();
    const before = this.#seen.get(token);
    if (before?.beat !== beat) {
      this.#seen.set(token, { beat, since: now, isRenewed: before !== undefined });
      return this.#unexpired(owner, before !== undefined, leaseMs);
    }
    const remaining = before.since + leaseMs - (readFrom ?? now);
    if (remaining <= 0) return { state: 'expired', expiresInMs: null };
    return this.#unexpired(owner, before.isRenewed, remaining);
  }

  /** Whether the owner is proven to have exited. Only then is it certain that it writes nothing any more. */
  hasExited(owner: Lease['owner']): boolean {
    return !this.#processes.isRunning(owner);
  }

  /** Drops what is known of a lease that is over. */
  forget(token: string): void {
    this.#seen.delete(token);
  }

  #unexpired(owner: Lease['owner'], isRenewed: boolean, remaining: number): LeaseState {
    const isKnown = isRenewed || this.#processes.whyUnchecked(owner) === null;
    return isKnown
      ? { state: 'running', expiresInMs: null }
      : { state: 'unknown', expiresInMs: Math.ceil(remaining) };
  }
}

/** Renews the leases of one opening of a store in each third of a lease, while it has claimed something. */
export class HeartbeatTimer {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #interval: number;
  readonly #renew: () => void;
  #cancel: (() => void) | null = null;

  /** `renew` does not throw: a renewal that the system refuses is repeated after the next interval. */
  constructor(clock: Pick<Clock, 'after'>, leaseMs: number, renew: () => void) {
    this.#clock = clock;
    this.#interval = leaseMs / 3;
    this.#renew = renew;
  }

  /** Starts the timer, unless it runs. It does not keep the process running. */
  start(): void {
    if (this.#cancel !== null) return;
    this.#cancel = this.#clock.after(
      this.#interval,
      () => {
        this.#cancel = null;
        this.start();
        this.#renew();
      },
      { keepsProcess: false },
    );
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}

/** The process that owns a lease. Plain data, to be stored where other processes read it. */
export interface ProcessOwner {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes a process from a later one with the same number; null if the system does not report it. */
  readonly startTime: string | null;
  /** Changes at each start of the machine; null if the system does not report it. */
  readonly bootId: string | null;
  /** The namespace that `pid` belongs to; null if the system has none or does not report it. */
  readonly pidNamespace: string | null;
}

/** What a store asks about processes. A test or a simulator can replace it. */
export interface Processes {
  /** This process. */
  current(): ProcessOwner;
  /** Whether the owner may still be running: false only if it is proven to have exited. */
  isRunning(owner: ProcessOwner): boolean;
  /** The reason why this process cannot check the owner, in words; null if it can. */
  whyUnchecked(owner: ProcessOwner): string | null;
}

/** This process. Reads small system files; on macOS the first call starts a program. */
export function currentProcess(): ProcessOwner {
  return {
    pid: process.pid,
    host: hostname(),
    startTime: readProcess(process.pid)?.startTime ?? null,
    bootId: readBootId(),
    pidNamespace: readPidNamespace(),
  };
}

/** The owner in a stored value. Null if the value has no process number or no host. */
export function toOwner(value: unknown): ProcessOwner | null {
  if (typeof value !== 'object' || value === null) return null;
  const { pid, host } = value as Partial<ProcessOwner>;
  return typeof pid === 'number' && typeof host === 'string' ? (value as ProcessOwner) : null;
}

/**
 * Whether the owner may still be running. False only if the owner is proven to have exited. An owner that this process
 * cannot check counts as running.
 */
export function isRunning(owner: ProcessOwner): boolean {
  if (whyUnchecked(owner) !== null) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const found = readProcess(owner.pid);
  if (found === null) return true;
  return !found.hasEnded && (owner.startTime === null || found.startTime === owner.startTime);
}

/** The owner in words, for an error message. If this process cannot check whether the owner runs, with the reason. */
export function describeOwner(owner: ProcessOwner, processes: Processes = systemProcesses): string {
  if (isDeepStrictEqual(owner, processes.current()))
    return `another open store of this process (${owner.pid})`;
  const reason = processes.whyUnchecked(owner);
  const name = `process ${owner.pid} on ${owner.host}`;
  return reason === null ? name : `${name} (${reason}, so this process cannot check whether it still runs)`;
}

/**
 * The reason why the owner's process number identifies no process here; null if it does. A number is valid within one boot
 * and one PID namespace only. If either is unknown, as in a record that lacks them, another process may have the number.
 */
function whyUnchecked({ host, bootId, pidNamespace }: ProcessOwner): string | null {
  if (host !== hostname()) return 'another host';
  if (!isRecorded(bootId) || !isRecorded(pidNamespace)) return 'its boot or PID namespace is not recorded';
  if (bootId !== readBootId()) return 'another boot of the machine, or another machine of that name';
  if (pidNamespace !== readPidNamespace()) return 'another PID namespace, such as a container or a sandbox';
  return null;
}

/** Undefined in a record that lacks it. Null means "none" except on Linux, which always has one. */
function isRecorded(value: string | null | undefined): boolean {
  return value === null ? process.platform !== 'linux' : value !== undefined;
}

/** Read when it is first needed, because on macOS that starts a program. */
function readBootId(): string | null {
  if (bootId === undefined) bootId = orNull(findBootId);
  return bootId;
}

function findBootId(): string | null {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (process.platform !== 'darwin') return null;
  const text = execFileSync('/usr/sbin/sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' });
  return /sec = (\d+)/.exec(text)?.[1] ?? null;
}

function readPidNamespace(): string | null {
  return process.platform === 'linux' ? orNull(() => readlinkSync('/proc/self/ns/pid')) : null;
}

/**
 * Reads `/proc/PID/stat` of Linux: the state of the process (field 3; Z and X have exited, but their parent has not
 * collected the exit status yet) and its start in clock ticks since boot (field 22). Null if there is no such file, or if
 * `/proc` belongs to another PID namespace (`unshare --pid` without a new `/proc`), which has other numbers.
 */
function readProcess(pid: number): { readonly hasEnded: boolean; readonly startTime: string | null } | null {
  return orNull(() => {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { hasEnded: /^[ZX]/.test(fields[0] ?? ''), startTime: fields[19] ?? null };
  });
}

/** Null also if the system refuses the call. Nothing is known then, and the callers conclude nothing from it. */
function orNull<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
