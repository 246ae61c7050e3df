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
  return { pid: process.pid, host: hostname(), startTime: startTimeOf(process.pid) };
}

/** Whether the owner still runs. The owner on another host can't be asked, so it counts as running. */
export function isRunning(owner: ProcessOwner): boolean {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const startTime = startTimeOf(owner.pid);
  return startTime === null || owner.startTime === null || startTime === owner.startTime;
}

/** The owner in words, for the message of a STORE_LOCKED. */
export function describeOwner(owner: ProcessOwner): string {
  return `process ${owner.pid} on ${owner.host}`;
}

/** Field 22 of Linux's `/proc/PID/stat`: clock ticks since boot at which the process started. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
