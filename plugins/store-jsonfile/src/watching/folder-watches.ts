import type { StopWatching } from '@hansard/provider';
import { isSystemError, orMissing } from '@hansard/store-kit';
import type { Files } from '../files.ts';

/** Receives the changed name, or null where the system does not say it. */
export type FolderListener = (name: string | null) => void;

interface WatchedFolder {
  readonly listeners: Set<FolderListener>;
  readonly stop: () => void;
}

/** One listener of a folder. */
export interface FolderWatch {
  /** Names the folder that is watched: another one at the same path has another key. */
  readonly key: string;
  readonly stop: StopWatching;
}

/**
 * Watches folders with the means of the system, each once for all listeners of this opening. On Linux each takes one of the watches of
 * inotify that the user has (`fs.inotify.max_user_watches`), so their number is bounded.
 */
export class FolderWatches {
  readonly #files: Files;
  readonly #most: number;
  readonly #folders = new Map<string, WatchedFolder>();

  constructor(files: Files, most = 1_024) {
    this.#files = files;
    this.#most = most;
  }

  /** The key of the folder at a path now; null if there is none. */
  keyOf(folder: string): string | null {
    const stats = attempt(() => orMissing(() => this.#files.stat(folder)));
    return stats?.isDirectory() === true ? `${stats.ino} ${folder}` : null;
  }

  /** Null if the folder cannot be watched: it is missing, the system refuses, or too many are watched. */
  add(folder: string, listener: FolderListener): FolderWatch | null {
    const key = this.keyOf(folder);
    if (key === null) return null;
    const watched = this.#folders.get(key) ?? this.#watch(key, folder);
    if (watched === null) return null;
    watched.listeners.add(listener);
    const stop = () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0 || this.#folders.get(key) !== watched) return;
      this.#folders.delete(key);
      watched.stop();
    };
    return { key, stop };
  }

  #watch(key: string, folder: string): WatchedFolder | null {
    if (this.#folders.size >= this.#most) return null;
    const listeners = new Set<FolderListener>();
    const stop = attempt(() =>
      this.#files.watch(folder, (name) => {
        for (const listener of [...listeners]) listener(name);
      }),
    );
    if (stop === null) return null;
    const watched = { listeners, stop };
    this.#folders.set(key, watched);
    return watched;
  }
}

/** Null if the system refuses. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}
