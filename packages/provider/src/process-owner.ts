import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds something that one process at a time may hold, such as the right to write a dispatch. Plain data. */
export interface ProcessOwner {
  readonly pid: number;
  readonly host: string;
  /** Tells a process from a later one with the same number; null where the system does not say. */
  readonly startTime: string | null;
}

export function currentProcess(): ProcessOwner {
  return { pid: process.pid, host: hostname(), startTime: readProcess(process.pid)?.startTime ?? null };
}

/** Whether the owner still runs. The owner on another host can't be asked, so it counts as running. */
export function isRunning(owner: ProcessOwner): boolean {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const found = readProcess(owner.pid);
  if (found === null) return true;
  return !found.hasEnded && (owner.startTime === null || found.startTime === owner.startTime);
}

/** The owner in words, for the message of a STORE_LOCKED. */
export function describeOwner(owner: ProcessOwner): string {
  return `process ${owner.pid} on ${owner.host}`;
}

/**
 * What Linux says of a process in `/proc/PID/stat`: its state (field 3; Z and X have ended, though a parent has not asked
 * for their end yet) and the clock ticks since boot at which it started (field 22). Null where there is no such file.
 */
function readProcess(pid: number): { readonly hasEnded: boolean; readonly startTime: string | null } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { hasEnded: /^[ZX]/.test(fields[0] ?? ''), startTime: fields[19] ?? null };
  } catch {
    return null;
  }
}
