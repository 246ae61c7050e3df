import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { assertDispatchId, type RemainsScope, storeErrors } from '@hansard/provider';
import { orMissing } from '@hansard/store-kit';
import { dispatchPaths, names } from './disk-format.ts';
import { parseCopyName } from './dispatch/dispatch-claims.ts';
import type { DispatchContext } from './dispatch/dispatch-context.ts';
import type { DispatchName } from './dispatch/dispatch-file.ts';
import type { WriterLocks } from './locks/writer-locks.ts';
import { taskLock } from './task/task-file.ts';
import { parseDispatchFile, resolveTaskFolder, walkTaskDirs } from './task-folder.ts';

const damagedFile = /^(.+)\.json\.damaged-\d+$/;
const lockFile = /^(.+)\.lock\.\d+$/;

/** A file that is not part of a dispatch or a task that can be read. */
interface Remainder {
  readonly path: string;
  /** Its kind, and how it is removed. */
  readonly reason: string;
  /** A file that belongs to this dispatch only while a process writes it: its owner can remove it. */
  readonly dispatch?: DispatchName;
  /** The folder of the task, if the file is an unfinished record or the lock of the task. */
  readonly taskFolder?: string;
  /** Whether nobody can still use it. */
  readonly isOver?: boolean;
}

const removed = '`hansard secrets redact` removes it.';

/** Finds the files of the store that belong to no dispatch, task or running process: remainders of killed processes, damaged dispatches that were kept, and files of others. */
export class StoreRemains {
  readonly #context: DispatchContext;
  readonly #locks: WriterLocks;

  constructor(context: DispatchContext, locks: WriterLocks) {
    this.#context = context;
    this.#locks = locks;
  }

  /** Each file in words. */
  list(scope: RemainsScope): string[] {
    return this.#find(scope).map(({ path, reason }) => `${path}, ${reason}`);
  }

  /** Removes what killed processes left, unless another process may be writing it. */
  remove(): void {
    const { files } = this.#context;
    for (const { path, dispatch, taskFolder, isOver } of this.#find({})) {
      if (isOver) files.remove(path);
      if (dispatch !== undefined) ignoreRefusal(() => this.#removeCopy(path, dispatch));
      if (taskFolder === undefined) continue;
      ignoreRefusal(() => {
        const lock = taskLock(taskFolder);
        const taken = this.#locks.take(lock);
        try {
          this.#locks.removeLost(taken);
          files.remove(path);
        } finally {
          this.#locks.release(lock.path);
        }
      });
    }
  }

  #removeCopy(path: string, dispatch: DispatchName): void {
    const { files, claims } = this.#context;
    claims.whileOwning(dispatch, (claim) => {
      // Its number can be that of the new claim, if no dispatch records the number of the last one.
      if (path.endsWith(names.temporary)) files.remove(path);
      // The lost locks of a dispatch that does not exist have no further use.
      if (files.lstat(dispatch.paths.file) === null) claim.removeLost();
    });
  }

  #find({ taskDir, dispatchId }: RemainsScope): Remainder[] {
    const { files, root } = this.#context;
    const taskDirs = taskDir === undefined ? [...walkTaskDirs(files, root)].sort() : [taskDir];
    const ofWriters = taskDir === undefined ? this.#inWriters() : [];
    const ofTasks = taskDirs.flatMap((task) => {
      const folder = validOrNull(() => resolveTaskFolder(files, root, task));
      if (folder === null) return [];
      const found = this.#inDispatches(task, folder);
      if (dispatchId === undefined)
        return [...this.#inTask(folder), ...found.map(([, remainder]) => remainder)];
      return found.flatMap(([of, remainder]) => (of === dispatchId ? remainder : []));
    });
    return [...ofTasks, ...ofWriters];
  }

  #inTask(taskFolder: string): Remainder[] {
    const inFolder = this.#entries(taskFolder);
    const entries = inFolder.map(({ name }) => name);
    const found: Remainder[] = [];
    const listing = join(taskFolder, names.listingTemporary);
    if (entries.includes(names.listingTemporary))
      found.push({ path: listing, reason: `a list that a process did not finish: ${removed}`, isOver: true });
    const isLock = (name: string) => name.startsWith(names.taskLock);
    const strange = inFolder.filter((entry) => isLock(entry.name) && !entry.isFile());
    for (const { name } of strange)
      found.push({ path: join(taskFolder, name), reason: 'which is not a regular file: move it away.' });
    if (strange.length > 0) return found;
    const locks = entries.filter(isLock);
    // Another process may be writing the record.
    if (locks.length > 0 && this.#locks.stateOf(taskLock(taskFolder))?.state !== 'expired') return found;
    const lockOf = 'the lock of the record of the task, of a process that has exited';
    for (const name of locks)
      found.push({ path: join(taskFolder, name), reason: `${lockOf}: ${removed}`, taskFolder });
    if (!entries.includes(names.taskTemporary)) return found;
    const path = join(taskFolder, names.taskTemporary);
    const reason = `a record of the task that a process did not finish: ${removed}`;
    return [...found, { path, reason, taskFolder }];
  }

  /** The heartbeats without a lock, of processes that have exited. */
  #inWriters(): Remainder[] {
    const { files, root } = this.#context;
    return this.#entries(join(root, names.writers)).flatMap(({ name }): Remainder[] => {
      const path = join(root, names.writers, name);
      const isHeartbeat = /\.json(?:\.tmp)?$/.test(name);
      if (!isHeartbeat) return [{ path, reason: 'which belongs to no process: delete the file.' }];
      if ((files.stat(path)?.nlink ?? 0) !== 1 || !this.#locks.hasExited(path)) return [];
      return [{ path, reason: `the heartbeat of a process that has exited: ${removed}`, isOver: true }];
    });
  }

  /** With the id of the dispatch of each; null without one. */
  #inDispatches(taskDir: string, taskFolder: string): (readonly [dispatchId: string | null, Remainder])[] {
    const folder = join(taskFolder, names.dispatches);
    const entries = this.#entries(folder);
    const dispatches = new Set(entries.map(({ name }) => parseDispatchFile(name)));
    return entries.flatMap(({ name }): (readonly [string | null, Remainder])[] => {
      if (parseDispatchFile(name) !== null) return [];
      const path = join(folder, name);
      const [, damaged] = damagedFile.exec(name) ?? [];
      if (damaged !== undefined)
        return [[damaged, { path, reason: 'kept when a loss was accepted: delete the file.' }]];
      const copy = parseCopyName(name);
      const [, locked] = lockFile.exec(name) ?? [];
      const dispatchId = copy?.dispatchId ?? locked;
      const dispatch = dispatchId === undefined ? null : nameOf(taskDir, taskFolder, dispatchId);
      if (dispatchId === undefined || dispatch === null)
        return [[null, { path, reason: 'which belongs to no dispatch: delete the file.' }]];
      const isOfLock = copy === null && dispatches.has(dispatchId);
      if (isOfLock || this.#isWritten(dispatch)) return [];
      const unfinished = copy?.token === null ? 'a copy' : 'a deletion';
      const what =
        copy === null
          ? 'the lock of a dispatch that does not exist'
          : `${unfinished} that a process did not finish`;
      return [[dispatchId, { path, reason: `${what}: ${removed}`, dispatch }]];
    });
  }

  /** Whether a running process has claimed the dispatch. */
  #isWritten(dispatch: DispatchName): boolean {
    try {
      return this.#context.claims.stateOf(dispatch)?.state === 'running';
    } catch (error) {
      // Its head records the number of the claim, and cannot be read.
      if (!storeErrors.is(error, 'STORE_CORRUPT')) throw error;
      return false;
    }
  }

  #entries(folder: string): Dirent[] {
    return orMissing(() => this.#context.files.list(folder)) ?? [];
  }
}

function nameOf(taskDir: string, taskFolder: string, dispatchId: string): DispatchName | null {
  const id = validOrNull(() => {
    assertDispatchId(dispatchId);
    return dispatchId;
  });
  return id === null ? null : { taskDir, dispatchId, paths: dispatchPaths(taskFolder, dispatchId) };
}

/** Null for a name that is none, and for a link that leads out of the store. */
function validOrNull(find: () => string): string | null {
  try {
    return find();
  } catch (error) {
    if (storeErrors.is(error, 'STORE_INVALID_PATH')) return null;
    throw error;
  }
}

/** What another process may be writing, and a damaged dispatch, stay as they are. */
function ignoreRefusal(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_LOCKED') && !storeErrors.is(error, 'STORE_CORRUPT')) throw error;
  }
}
