import type { DispatchEnvelope, TaskRecord } from '@hansard/events';
import { isStoreError } from '@hansard/provider';
import { readDispatchEnvelope } from '../dispatch/dispatch-file.ts';
import { isSystemError } from '../errors.ts';
import { syncFolder } from '../lines/file-io.ts';
import { dispatchPaths, listDispatchIds } from '../task-folder.ts';
import type { WriterLocks } from '../writer-lock.ts';
import { type TaskFileChange, taskLockPath, writeTaskFile } from './task-file.ts';

const longestWait = 2_000;
const waitBetween = 2;

/** Writes the files of tasks, one process at a time for each. */
export class TaskIndex {
  readonly #locks: WriterLocks;
  readonly #sync: boolean;

  constructor(locks: WriterLocks, sync: boolean) {
    this.#locks = locks;
    this.#sync = sync;
  }

  /** Writes a task's record. @throws STORE_LOCKED where another process writes it for longer than two seconds */
  putRecord(taskFolder: string, task: TaskRecord): void {
    const giveUpAt = performance.now() + longestWait;
    for (;;) {
      try {
        this.#write(taskFolder, { task }, this.#sync);
        break;
      } catch (error) {
        if (!isStoreError(error, 'STORE_LOCKED') || performance.now() > giveUpAt) throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitBetween);
    }
    if (this.#sync) syncFolder(taskFolder);
  }

  /** Brings the index up to date with one dispatch. The index is derived: where that fails now, a later change does it. */
  refresh(taskFolder: string, dispatchId: string): void {
    try {
      this.#write(taskFolder, { dispatchId }, false);
    } catch (error) {
      if (!isStoreError(error) && !isSystemError(error)) throw error;
    }
  }

  #write(taskFolder: string, change: TaskFileChange, sync: boolean): void {
    const lock = taskLockPath(taskFolder);
    this.#locks.take(lock);
    try {
      const readEnvelope = (dispatchId: string) => readIfWhole(dispatchPaths(taskFolder, dispatchId).file);
      writeTaskFile(taskFolder, change, listDispatchIds(taskFolder), readEnvelope, sync);
    } finally {
      this.#locks.release(lock);
    }
  }
}

/** A dispatch that can't be read is left out of the index, which is derived; reading the dispatch itself reports it. */
function readIfWhole(file: string): DispatchEnvelope | null {
  try {
    return readDispatchEnvelope(file);
  } catch (error) {
    if (isStoreError(error) || isSystemError(error)) return null;
    throw error;
  }
}
