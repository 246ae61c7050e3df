import type { DispatchEnvelope, TaskRecord } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { isSystemError } from '@hansard/store-kit';
import { dispatchPaths } from '../disk-format.ts';
import { readDispatchEnvelope } from '../dispatch/dispatch-file.ts';
import type { Files } from '../files.ts';
import { syncFolder } from '../lines/open-file.ts';
import type { WriterLocks } from '../locks/writer-locks.ts';
import type { StoreSystem } from '../store-system.ts';
import { listDispatchIds } from '../task-folder.ts';
import { type TaskFileChange, taskLock, writeTaskFile } from './task-file.ts';

/** Milliseconds. */
const longestWait = 100;
const waitBetween = 2;

/** Writes the task.json of tasks. A lock lets one process at a time write each file. */
export class TaskIndex {
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  readonly #sync: boolean;

  constructor(system: StoreSystem, locks: WriterLocks, sync: boolean) {
    this.#system = system;
    this.#locks = locks;
    this.#sync = sync;
  }

  /** Writes the record of a task. @throws STORE_LOCKED if other processes write it for 100 milliseconds */
  putRecord(taskFolder: string, task: TaskRecord): void {
    const { files, clock, pause } = this.#system;
    const giveUpAt = clock.monotonic() + longestWait;
    for (;;) {
      try {
        this.#write(taskFolder, { task }, this.#sync);
        break;
      } catch (error) {
        if (!isStoreError(error, 'STORE_LOCKED') || clock.monotonic() > giveUpAt) throw error;
      }
      pause(waitBetween);
    }
    if (this.#sync) syncFolder(files, taskFolder);
  }

  /** Updates the index for one dispatch. The index is derived, so a failure is ignored and the next change repairs it. */
  refresh(taskFolder: string, dispatchId: string): void {
    try {
      this.#write(taskFolder, { dispatchId }, false);
    } catch (error) {
      if (!isStoreError(error) && !isSystemError(error)) throw error;
    }
  }

  #write(taskFolder: string, change: TaskFileChange, sync: boolean): void {
    const { files } = this.#system;
    const lock = taskLock(taskFolder);
    this.#locks.take(lock);
    try {
      const readEnvelope = (dispatchId: string) =>
        readIfPossible(files, dispatchPaths(taskFolder, dispatchId).file);
      writeTaskFile(files, taskFolder, change, listDispatchIds(files, taskFolder), readEnvelope, sync);
    } finally {
      this.#locks.release(lock.path);
    }
  }
}

/** Null for a dispatch that cannot be read: the index omits it, and a read of the dispatch itself reports the damage. */
function readIfPossible(files: Files, file: string): DispatchEnvelope | null {
  try {
    return readDispatchEnvelope(files, file);
  } catch (error) {
    if (isStoreError(error) || isSystemError(error)) return null;
    throw error;
  }
}
