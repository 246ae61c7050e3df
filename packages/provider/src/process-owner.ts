import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The owner of something that one process at a time may hold, such as the right to write a dispatch. Plain data. */
export interface ProcessOwner {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes a process from a later one with the same number; null where the system does not say. */
  readonly startTime: string | null;
  /** Changes at each start of the machine; null where the system does not say. */
  readonly bootId: string | null;
  /** The namespace in which `pid` is a number of a process; null where the system does not say or has none. */
  readonly pidNamespace: string | null;
}

export function currentProcess(): ProcessOwner {
  return {
    pid: process.pid,
    host: hostname(),
    startTime: readProcess(process.pid)?.startTime ?? null,
    bootId: readBootId(),
    pidNamespace: readPidNamespace(),
  };
}

/**
 * Whether the owner still runs, as far as this process can know: false only where the owner is proven to have ended.
 * An owner that this process cannot ask counts as running.
 */
export function isRunning(owner: ProcessOwner): boolean {
  if (whyNotAsked(owner) !== null) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const found = readProcess(owner.pid);
  if (found === null) return true;
  return !found.hasEnded && (owner.startTime === null || found.startTime === owner.startTime);
}

/** The owner in words, for the message of a STORE_LOCKED: with the reason where nobody here can ask whether it runs. */
export function describeOwner(owner: ProcessOwner): string {
  const reason = whyNotAsked(owner);
  const name = `process ${owner.pid} on ${owner.host}`;
  return reason === null
    ? name
    : `${name} (${reason}, so it cannot be checked from here whether it still runs)`;
}

/**
 * Why a process number of the owner says nothing here; null where it does. A number counts within one boot and one PID
 * namespace only. Where either is unknown, as in a record of an earlier version, another process may have the number.
 */
function whyNotAsked({ host, bootId, pidNamespace }: ProcessOwner): string | null {
  if (host !== hostname()) return 'another host';
  if (!isRecorded(bootId) || !isRecorded(pidNamespace)) return 'its boot or PID namespace is not recorded';
  if (bootId !== readBootId()) return 'another boot of the machine, or another machine of that name';
  if (pidNamespace !== readPidNamespace()) return 'another PID namespace, such as a container or a sandbox';
  return null;
}

/** Undefined in a record of an earlier version. Null means "none" except on Linux, which always has one. */
function isRecorded(value: string | null | undefined): boolean {
  return value === null ? process.platform !== 'linux' : value !== undefined;
}

let bootId: string | null | undefined;

/** Read when it is first needed: on macOS that starts a program. */
function readBootId(): string | null {
  if (bootId === undefined) bootId = orNull(askForBootId);
  return bootId;
}

function askForBootId(): string | null {
  if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  if (process.platform !== 'darwin') return null;
  const text = execFileSync('/usr/sbin/sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' });
  return /sec = (\d+)/.exec(text)?.[1] ?? null;
}

function readPidNamespace(): string | null {
  return process.platform === 'linux' ? orNull(() => readlinkSync('/proc/self/ns/pid')) : null;
}

/**
 * What Linux says of a process in `/proc/PID/stat`: its state (field 3; Z and X have ended, though a parent has not asked
 * for their end yet) and the clock ticks since boot at which it started (field 22). Null where there is no such file, and
 * where `/proc` belongs to another PID namespace (`unshare --pid` without a new `/proc`), whose numbers are others.
 */
function readProcess(pid: number): { readonly hasEnded: boolean; readonly startTime: string | null } | null {
  return orNull(() => {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { hasEnded: /^[ZX]/.test(fields[0] ?? ''), startTime: fields[19] ?? null };
  });
}

/** Null if the system refuses, too: nothing is known then, and nothing is concluded from it. */
function orNull<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
