import type { DispatchEnvelope, TaskRecord } from '@hansard/events';
import { storeErrors } from '@hansard/provider';
import { isSystemError } from '@hansard/store-kit';
import { dispatchPaths } from '../disk-format.ts';
import { readDispatchEnvelope } from '../dispatch/dispatch-file.ts';
import type { Files } from '../files.ts';
import type { LaterWork } from '../later-work.ts';
import { syncFolder } from '../lines/open-file.ts';
import type { WriterLocks } from '../locks/writer-locks.ts';
import type { StoreSystem } from '../store-system.ts';
import { type TaskFileChange, taskLock, writeTaskFile } from './task-file.ts';

/** Milliseconds. */
const longestWait = 100;
const waitBetween = 2;

/**
 * Writes the task.json of tasks. A lock lets one process at a time write each file. The index in it is written at most once a
 * second, and when the store closes.
 */
export class TaskIndex {
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  readonly #later: LaterWork;
  readonly #sync: boolean;
  /** The ids of changed dispatches that are not in the index yet, by the folder of their task. */
  readonly #changed = new Map<string, Set<string>>();

  constructor(system: StoreSystem, locks: WriterLocks, later: LaterWork, sync: boolean) {
    this.#system = system;
    this.#locks = locks;
    this.#later = later;
    this.#sync = sync;
  }

  /** The folders of the tasks whose index is older than a change of a dispatch. */
  get unwritten(): string[] {
    return [...this.#changed.keys()];
  }

  /** Writes the record of a task. @throws STORE_LOCKED if other processes write it for 100 milliseconds */
  putRecord(taskFolder: string, task: TaskRecord): void {
    this.#writeNow(taskFolder, { task });
  }

  /** Updates the index for one dispatch. @throws STORE_LOCKED if other processes write it for 100 milliseconds */
  refreshNow(taskFolder: string, dispatchId: string): void {
    this.#writeNow(taskFolder, { dispatchIds: new Set([dispatchId]) });
  }

  #writeNow(taskFolder: string, change: TaskFileChange): void {
    const { files, clock, pause } = this.#system;
    const giveUpAt = clock.monotonic() + longestWait;
    for (;;) {
      try {
        this.#write(taskFolder, change, this.#sync);
        break;
      } catch (error) {
        if (!storeErrors.is(error, 'STORE_LOCKED') || clock.monotonic() > giveUpAt) throw error;
      }
      pause(waitBetween);
    }
    if (this.#sync) syncFolder(files, taskFolder);
  }

  /** Updates the index for one dispatch, later. The index is derived: after a failure, the next change updates it. */
  refresh(taskFolder: string, dispatchId: string): void {
    const changed = this.#changed.get(taskFolder);
    if (changed !== undefined) changed.add(dispatchId);
    else this.#changed.set(taskFolder, new Set([dispatchId]));
    this.#later.add(taskFolder, () => {
      this.#write(taskFolder, { dispatchIds: this.#changed.get(taskFolder) ?? new Set() }, false);
      this.#changed.delete(taskFolder);
    });
  }

  #write(taskFolder: string, change: TaskFileChange, sync: boolean): void {
    const { files } = this.#system;
    const lock = taskLock(taskFolder);
    this.#locks.take(lock);
    try {
      const readEnvelope = (dispatchId: string) =>
        readIfPossible(files, dispatchPaths(taskFolder, dispatchId).file);
      writeTaskFile(files, taskFolder, change, readEnvelope, sync);
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
    if (storeErrors.is(error) || isSystemError(error)) return null;
    throw error;
  }
}
