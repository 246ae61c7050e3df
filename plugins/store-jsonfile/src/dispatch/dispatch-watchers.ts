import { basename } from 'node:path';
import type { StopWatching } from '@hansard/provider';
import { type MergedCalls, mergeCalls } from '@hansard/store-kit';
import type { DispatchPaths } from '../disk-format.ts';
import type { Files } from '../files.ts';

interface Watcher {
  readonly calls: MergedCalls;
  readonly stop: StopWatching;
}

/** Calls listeners when a dispatch changes: `notify` reports the writes of this store, the file system those of others. */
export class DispatchWatchers {
  readonly #files: Files;
  readonly #watchers = new Map<string, Set<Watcher>>();

  constructor(files: Files) {
    this.#files = files;
  }

  add({ file, folder }: DispatchPaths, onChange: () => void): StopWatching {
    const name = basename(file);
    const calls = mergeCalls(onChange);
    const stopWatching = this.#files.watch(folder, (changed) => {
      if (changed === null || changed === name) calls.notify();
    });
    const stop = (): void => {
      calls.stop();
      stopWatching();
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
