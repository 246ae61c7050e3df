import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { StopWatching } from '@hansard/provider';
import { type MergedCalls, mergeCalls } from '@hansard/store-kit';
import type { DispatchPaths } from '../disk-format.ts';

interface Watcher {
  readonly calls: MergedCalls;
  readonly stop: StopWatching;
}

/** Calls listeners when a dispatch changes: `notify` reports the writes of this store, the file system those of others. */
export class DispatchWatchers {
  readonly #watchers = new Map<string, Set<Watcher>>();

  add({ file, folder }: DispatchPaths, onChange: () => void): StopWatching {
    const name = basename(file);
    const calls = mergeCalls(onChange);
    const fileWatcher: FSWatcher = watch(folder, (_, changed) => {
      if (changed === null || changed === name) calls.notify();
    });
    // The listener then reads the store, and receives the error there.
    fileWatcher.on('error', () => calls.notify());
    const stop = (): void => {
      calls.stop();
      fileWatcher.close();
      const watchers = this.#watchers.get(file);
      watchers?.delete(watcher);
      if (watchers?.size === 0) this.#watchers.delete(file);
    };
    const watcher = { calls, stop };
    const watchers = this.#watchers.get(file) ?? new Set();
    this.#watchers.set(file, watchers.add(watcher));
    return stop;
  }

  notify(file: string): void {
    if (this.#watchers.size === 0) return;
    for (const { calls } of this.#watchers.get(file) ?? []) calls.notify();
  }

  close(): void {
    for (const watchers of this.#watchers.values()) for (const watcher of watchers) watcher.stop();
  }
}
