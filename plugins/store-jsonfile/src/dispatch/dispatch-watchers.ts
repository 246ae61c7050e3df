import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { StopWatching } from '@hansard/provider';
import type { DispatchPaths } from '../task-folder.ts';

interface Watcher {
  readonly stop: StopWatching;
  readonly notice: () => void;
}

/** Tells listeners of changes: those of other processes by the file system, those of this store directly. */
export class DispatchWatchers {
  readonly #watchers = new Map<string, Set<Watcher>>();

  add({ file, folder }: DispatchPaths, onChange: () => void): StopWatching {
    const name = basename(file);
    let isScheduled = false;
    let isStopped = false;
    const notice = (): void => {
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(() => {
        isScheduled = false;
        if (!isStopped) onChange();
      });
    };
    const fileWatcher: FSWatcher = watch(folder, (_, changed) => {
      if (changed === null || changed === name) notice();
    });
    // The listener reads, and is told by that what is wrong.
    fileWatcher.on('error', notice);
    const stop = (): void => {
      isStopped = true;
      fileWatcher.close();
      const watchers = this.#watchers.get(file);
      watchers?.delete(watcher);
      if (watchers?.size === 0) this.#watchers.delete(file);
    };
    const watcher = { stop, notice };
    const watchers = this.#watchers.get(file) ?? new Set();
    this.#watchers.set(file, watchers.add(watcher));
    return stop;
  }

  notice(file: string): void {
    if (this.#watchers.size === 0) return;
    for (const watcher of this.#watchers.get(file) ?? []) watcher.notice();
  }

  close(): void {
    for (const watchers of this.#watchers.values()) for (const watcher of watchers) watcher.stop();
  }
}
