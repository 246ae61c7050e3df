import { join } from 'node:path';
import { type Clock, type StopWatching, storeErrors, type WatchScope } from '@hansard/provider';
import { ChangeListeners, isSystemError, mergeCalls, orMissing } from '@hansard/store-kit';
import { names } from './disk-format.ts';
import type { Files } from './files.ts';
import { walkTaskDirs } from './task-folder.ts';

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

/** Milliseconds between two looks at the files where a folder cannot be watched. */
const fastPoll = 250;
/** The same where the system watches every folder: file systems in a network report no changes of other machines. */
const slowPoll = 5_000;
/** A look takes at most this part of the time. */
const share = 20;
/** The least milliseconds between two calls for a scope of many dispatches. */
const leastBetween = 100;

interface WatchSystem {
  readonly files: Files;
  readonly clock: Clock;
  readonly folders: FolderWatches;
}

interface WatchPlace {
  readonly scope: WatchScope;
  /** The folder of the task, or the root. */
  readonly folder: string;
}

/**
 * Reports what others change in a scope. Each folder of it is watched by the system; a timer compares names, sizes and times of the files
 * as well, seldom if every folder is watched.
 *
 * Invariant: a folder is watched before it is listed, and the listener is called after each change of the watched folders. So whatever
 * is created in a new folder is seen by the call, or reported later.
 */
class WatchedScope {
  readonly #system: WatchSystem;
  readonly #place: WatchPlace;
  readonly #onChange: () => void;
  #calls = mergeCalls(() => {});
  /** By the keys of the folders. */
  #watches = new Map<string, StopWatching>();
  #isComplete = false;
  #seen = '';
  #cancelLook = () => {};
  /** Set for a while after a call. */
  #cancelPause: (() => void) | null = null;
  #isChanged = false;
  #isStopped = false;

  constructor(system: WatchSystem, place: WatchPlace, onChange: () => void) {
    this.#system = system;
    this.#place = place;
    this.#onChange = onChange;
  }

  start(): void {
    this.#calls = mergeCalls(this.#onChange);
    this.#watchFolders();
    this.#seen = this.#state();
    this.#schedule(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#calls.stop();
    this.#cancelLook();
    this.#cancelPause?.();
    for (const stop of this.#watches.values()) stop();
    this.#watches.clear();
  }

  #schedule(lookMs: number): void {
    const delay = Math.max(this.#isComplete ? slowPoll : fastPoll, share * lookMs);
    this.#cancelLook = this.#system.clock.after(delay, () => this.#look());
  }

  #look(): void {
    const { clock } = this.#system;
    const start = clock.monotonic();
    this.#watchFolders();
    const state = this.#state();
    if (state !== this.#seen) this.#changed();
    this.#seen = state;
    this.#schedule(clock.monotonic() - start);
  }

  #changed(): void {
    if (this.#isStopped) return;
    this.#isChanged = this.#cancelPause !== null;
    if (this.#isChanged) return;
    this.#calls.notify();
    if (this.#place.scope.dispatchId !== undefined) return;
    this.#cancelPause = this.#system.clock.after(leastBetween, () => {
      this.#cancelPause = null;
      if (this.#isChanged) this.#changed();
    });
  }

  /** Watches the folders of the scope that are not watched yet, and no others. */
  #watchFolders(): void {
    const { scope, folder } = this.#place;
    const watched = new Map<string, StopWatching>();
    const dispatches = join(folder, names.dispatches);
    if (scope.dispatchId !== undefined) this.#isComplete = this.#watch(watched, dispatches, this.#onFile);
    else if (scope.taskDir !== undefined) this.#isComplete = this.#watchTask(watched, folder);
    else this.#isComplete = this.#watchBelow(watched, folder);
    for (const [key, stop] of this.#watches) if (!watched.has(key)) stop();
    this.#watches = watched;
  }

  /** Whether everything is watched. Without a folder of dispatches, that of the task reports its creation. */
  #watchTask(watched: Map<string, StopWatching>, folder: string): boolean {
    if (!this.#watch(watched, folder, this.#onEntry)) return false;
    const dispatches = join(folder, names.dispatches);
    if (this.#watch(watched, dispatches, this.#onFile)) return true;
    return this.#system.folders.keyOf(dispatches) === null;
  }

  #watchBelow(watched: Map<string, StopWatching>, folder: string): boolean {
    if (!this.#watchTask(watched, folder)) return false;
    return this.#list(folder).every(
      (entry) =>
        !entry.isDirectory() ||
        entry.name === names.dispatches ||
        entry.name === names.writers ||
        this.#watchBelow(watched, join(folder, entry.name)),
    );
  }

  #watch(
    watched: Map<string, StopWatching>,
    folder: string,
    onChange: (name: string | null) => void,
  ): boolean {
    const key = this.#system.folders.keyOf(folder);
    const known = key === null ? undefined : this.#watches.get(key);
    if (key !== null && known !== undefined) {
      watched.set(key, known);
      return true;
    }
    const added = this.#system.folders.add(folder, onChange);
    if (added === null) return false;
    watched.set(added.key, added.stop);
    return true;
  }

  /** A change in a folder of dispatches. A lock or a temporary file does not change a dispatch. */
  readonly #onFile = (name: string | null): void => {
    const { dispatchId } = this.#place.scope;
    const isDispatch = name?.endsWith(names.dispatch) === true && !name.startsWith('.');
    if (name === null || (dispatchId === undefined ? isDispatch : name === dispatchId + names.dispatch))
      this.#changed();
  };

  /** A change in a folder that can have tasks. A new folder is watched before the listener reads. */
  readonly #onEntry = (name: string | null): void => {
    const isOfStore =
      name === names.writers ||
      name?.startsWith(names.taskLock) ||
      name?.startsWith(names.listing) ||
      name === names.taskTemporary;
    if (isOfStore || this.#isStopped) return;
    if (name !== names.task) this.#watchFolders();
    this.#changed();
  };

  #state(): string {
    const { files } = this.#system;
    const { scope, folder } = this.#place;
    if (scope.dispatchId !== undefined)
      return this.#fileState(join(folder, names.dispatches, scope.dispatchId + names.dispatch));
    const lines: string[] = [];
    try {
      const tasks = scope.taskDir === undefined ? walkTaskDirs(files, folder) : [''];
      for (const task of tasks) {
        const path = join(folder, task);
        lines.push(this.#fileState(join(path, names.task)));
        const dispatches = join(path, names.dispatches);
        const found = this.#list(dispatches).filter(({ name }) => name.endsWith(names.dispatch));
        for (const { name } of found) lines.push(this.#fileState(join(dispatches, name)));
      }
    } catch (error) {
      // The listener reads the store, and receives the error there.
      if (!isSystemError(error) && !storeErrors.is(error)) throw error;
    }
    return lines.sort().join('\n');
  }

  #list(folder: string) {
    try {
      return orMissing(() => this.#system.files.list(folder)) ?? [];
    } catch (error) {
      if (isSystemError(error) || storeErrors.is(error)) return [];
      throw error;
    }
  }

  #fileState(path: string): string {
    try {
      const stats = this.#system.files.stat(path);
      return stats === null ? path : [path, stats.ino, stats.size, stats.mtimeMs].join(' ');
    } catch (error) {
      if (isSystemError(error) || storeErrors.is(error)) return path;
      throw error;
    }
  }
}

/** Receives the changed name, or null where the system does not say it. */
type FolderListener = (name: string | null) => void;

interface WatchedFolder {
  readonly listeners: Set<FolderListener>;
  readonly stop: () => void;
}

/** One listener of a folder. */
interface FolderWatch {
  /** Names the folder that is watched: another one at the same path has another key. */
  readonly key: string;
  readonly stop: StopWatching;
}

/**
 * Watches folders with the means of the system, each once for all listeners of this opening. On Linux each takes one of the watches of
 * inotify that the user has (`fs.inotify.max_user_watches`), so their number is bounded.
 */
class FolderWatches {
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
