import { join } from 'node:path';
import { type Clock, isStoreError, type StopWatching, type WatchScope } from '@hansard/provider';
import { ChangeListeners, isSystemError, orMissing } from '@hansard/store-kit';
import { names } from './disk-format.ts';
import type { Files } from './files.ts';
import { walkTaskDirs } from './task-folder.ts';

/** Milliseconds between two looks at the files. */
const interval = 250;

/**
 * Calls the listeners of a task or of the whole store. `notify` reports the changes of this store. For those of others, a timer
 * compares the names, sizes and times of the files.
 */
export class ScopeWatch {
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #root: string;
  readonly #listeners = new ChangeListeners();
  readonly #stops = new Set<StopWatching>();

  constructor(files: Files, clock: Clock, root: string) {
    this.#files = files;
    this.#clock = clock;
    this.#root = root;
  }

  add({ taskDir }: Pick<WatchScope, 'taskDir'>, onChange: () => void): StopWatching {
    const scope = taskDir === undefined ? {} : { taskDir };
    const remove = this.#listeners.add(scope, onChange);
    let seen = this.#stateOf(taskDir);
    let cancel = () => {};
    const look = () => {
      const state = this.#stateOf(taskDir);
      if (state !== seen) onChange();
      seen = state;
      cancel = this.#clock.after(interval, look);
    };
    cancel = this.#clock.after(interval, look);
    const stop = () => {
      cancel();
      remove();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    return stop;
  }

  notify(taskDir: string): void {
    this.#listeners.notify(taskDir);
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #stateOf(taskDir: string | undefined): string {
    const folders = taskDir === undefined ? walkTaskDirs(this.#files, this.#root) : [taskDir];
    const lines: string[] = [];
    for (const folder of folders) {
      const path = join(this.#root, folder);
      lines.push(this.#fileState(join(path, names.task)));
      for (const file of this.#list(join(path, names.dispatches))) lines.push(this.#fileState(file));
    }
    return lines.join('\n');
  }

  #list(folder: string): string[] {
    try {
      const entries = orMissing(() => this.#files.list(folder)) ?? [];
      return entries
        .filter(({ name }) => name.endsWith(names.dispatch))
        .map(({ name }) => join(folder, name))
        .sort();
    } catch (error) {
      // The listener reads the store, and receives the error there.
      if (isSystemError(error) || isStoreError(error)) return [];
      throw error;
    }
  }

  #fileState(path: string): string {
    try {
      const stats = this.#files.stat(path);
      return stats === null ? path : [path, stats.ino, stats.size, stats.mtimeMs].join(' ');
    } catch (error) {
      if (isSystemError(error) || isStoreError(error)) return path;
      throw error;
    }
  }
}
