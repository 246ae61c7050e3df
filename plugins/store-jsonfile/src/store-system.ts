import { type Clock, systemClock } from '@hansard/provider';
import { fileSystemOf, type Processes, systemProcesses } from '@hansard/store-kit';
import { type Access, type Files, filesFor } from './files.ts';

/** What the store uses of the machine. A test or a simulator can replace each part. */
export interface StoreSystem {
  readonly files: Files;
  readonly clock: Clock;
  readonly processes: Processes;
  /** Blocks this process for some milliseconds. */
  pause(ms: number): void;
  /** The number of names that a file may have. Common file systems allow 65,000. */
  readonly mostLinks: number;
  /** The number of the file system of a path, as `statfs` gives it; null: not known. */
  fileSystemOf(path: string): number | null;
}

export function systemFor(access: Access): StoreSystem {
  return {
    files: filesFor(access),
    clock: systemClock,
    processes: systemProcesses,
    pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    mostLinks: 60_000,
    fileSystemOf,
  };
}

export const thisSystem: StoreSystem = systemFor('private');
