import { join } from 'node:path';
import type { Clock, StopWatching, WatchScope } from '@hansard/provider';
import { ChangeListeners } from '@hansard/store-kit';
import type { Files } from '../files.ts';
import { FolderWatches } from './folder-watches.ts';
import { WatchedScope } from './watched-scope.ts';

/** Calls listeners after changes: `notify` reports those of this store, a `WatchedScope` those of others. */
export class ScopeWatch {
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #root: string;
  readonly #folders: FolderWatches;
  /** Those of this opening of the store. */
  readonly listeners = new ChangeListeners();
  readonly #scopes = new Set<WatchedScope>();

  constructor(files: Files, clock: Clock, root: string, mostFolders?: number) {
    this.#files = files;
    this.#clock = clock;
    this.#root = root;
    this.#folders = new FolderWatches(files, mostFolders);
  }

  add(scope: WatchScope, onChange: () => void): StopWatching {
    const remove = this.listeners.add(scope, onChange);
    const folder = scope.taskDir === undefined ? this.#root : join(this.#root, scope.taskDir);
    const watched = new WatchedScope(
      { files: this.#files, clock: this.#clock, folders: this.#folders },
      { scope, folder },
      onChange,
    );
    this.#scopes.add(watched);
    watched.start();
    return () => {
      remove();
      this.#scopes.delete(watched);
      watched.stop();
    };
  }

  /** Without a dispatch, the record of the task was changed. */
  notify(taskDir: string, dispatchId?: string): void {
    this.listeners.notify(taskDir, dispatchId);
  }

  close(): void {
    this.listeners.stopAll();
    for (const watched of this.#scopes) watched.stop();
    this.#scopes.clear();
  }
}
