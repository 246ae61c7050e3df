import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';

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

/** The processes of this machine. */
export const systemProcesses: Processes = { current: currentProcess, isRunning, whyUnchecked };

/** Undefined in a record that lacks it. Null means "none" except on Linux, which always has one. */
function isRecorded(value: string | null | undefined): boolean {
  return value === null ? process.platform !== 'linux' : value !== undefined;
}

let bootId: string | null | undefined;

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
