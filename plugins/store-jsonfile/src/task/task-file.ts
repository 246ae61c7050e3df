import { join } from 'node:path';
import { type DispatchEnvelope, isPlainObject, type TaskRecord } from '@hansard/events';
import { compareByStart, storeErrors, type TaskListing } from '@hansard/provider';
import { isSystemError, knownTask, orMissing, withFile } from '@hansard/store-kit';
import { dispatchPaths, names } from '../disk-format.ts';
import { readStoredEnvelope } from '../dispatch/dispatch-file.ts';
import { corrupt } from '../errors.ts';
import type { Files } from '../files.ts';
import type { LaterWork } from '../later-work.ts';
import { readText, replaceFile, syncFolders } from '../lines/open-file.ts';
import type { LockPlace } from '../locks/lock-chain.ts';
import type { WriterLocks } from '../locks/writer-locks.ts';
import type { StoreSystem } from '../store-system.ts';
import { listDispatchIds, resolveTaskFolder } from '../task-folder.ts';

/** The fields of an envelope that the index in task.json repeats (D10). */
type DispatchSummary = Pick<
  DispatchEnvelope,
  'dispatchId' | 'role' | 'status' | 'cost' | 'startedAt' | 'parentDispatchId'
>;

interface TaskFile {
  /** The fields of the record; none if the task has no record. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly dispatches: unknown;
}

function taskFilePath(taskFolder: string): string {
  return join(taskFolder, names.task);
}

/** The lock of task.json. The file records no number, so the numbers of its locks begin again. */
export function taskLock(taskFolder: string): LockPlace {
  const path = join(taskFolder, names.taskLock);
  return {
    path,
    what: taskFilePath(taskFolder),
    howToRelease: `remove ${path}.*`,
    details: {},
    recorded: () => 0,
  };
}

/** The record of a task; null if it has none. @throws STORE_CORRUPT, STORE_NEWER */
export function readTaskRecord(files: Files, taskFolder: string): TaskRecord | null {
  const path = taskFilePath(taskFolder);
  return assertKnown(readTaskFile(files, path), path);
}

/** The record in a file; null if it has none. @throws STORE_NEWER */
function assertKnown(file: TaskFile | null, path: string): TaskRecord | null {
  if (file === null || Object.keys(file.fields).length === 0) return null;
  return knownTask(file.fields, path, { file: path });
}

/**
 * The entry of a task in a listing, with the error if its record or its dispatches cannot be read, including when a link
 * leads them out of the root. Null without a record and a dispatch.
 */
export function listTask(files: Files, root: string, taskDir: string): TaskListing | null {
  try {
    const taskFolder = withFile('look up', root, () => resolveTaskFolder(files, root, taskDir));
    const task = withFile('read', taskFilePath(taskFolder), () => readTaskRecord(files, taskFolder));
    const isEmpty =
      task === null && withFile('list', taskFolder, () => listDispatchIds(files, taskFolder)).length === 0;
    return isEmpty ? null : { taskDir, task };
  } catch (error) {
    if (storeErrors.is(error) && !error.isTransient) return { taskDir, task: null, error };
    throw error;
  }
}

/** The reason for writing task.json: a new record, or dispatches that were created, changed or deleted. */
export type TaskFileChange = { readonly task: TaskRecord } | { readonly dispatchIds: ReadonlySet<string> };

/**
 * Writes task.json. A new record keeps the index as it is, and does not replace one of a newer version (STORE_NEWER). Otherwise the index keeps its entries of ended dispatches, and only
 * the changed ones, the running ones and the missing ones are read. A file that cannot be read is then not changed, because
 * a person may still repair its record.
 */
function writeTaskFile(
  files: Files,
  taskFolder: string,
  change: TaskFileChange,
  readEnvelope: (dispatchId: string) => DispatchEnvelope | null,
  sync: boolean,
): void {
  const path = taskFilePath(taskFolder);
  if ('task' in change) {
    const present = readIfWhole(files, path);
    assertKnown(present, path);
    const summaries = present?.dispatches;
    write(files, taskFolder, change.task, Array.isArray(summaries) ? summaries.filter(isSummary) : [], sync);
    return;
  }
  const file = readTaskFile(files, path);
  const known = new Map((Array.isArray(file?.dispatches) ? file.dispatches : []).filter(isOfEnded).map(byId));
  for (const dispatchId of change.dispatchIds) known.delete(dispatchId);
  const summaries = listDispatchIds(files, taskFolder).flatMap((dispatchId) => {
    const summary = known.get(dispatchId);
    if (summary !== undefined) return summary;
    const envelope = readEnvelope(dispatchId);
    return envelope === null ? [] : summarise(envelope);
  });
  write(files, taskFolder, file?.fields ?? {}, summaries, sync);
}

/** Null for a file that a new record replaces, because it is damaged. */
function readIfWhole(files: Files, path: string): TaskFile | null {
  try {
    return readTaskFile(files, path);
  } catch (error) {
    if (storeErrors.is(error)) return null;
    throw error;
  }
}

function readTaskFile(files: Files, path: string): TaskFile | null {
  const text = orMissing(() => readText(files, path, 'read linked'));
  if (text === null) return null;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw corrupt(path, 0, 'it is not JSON', { cause });
  }
  if (!isPlainObject(content)) throw corrupt(path, 0, 'it is not an object');
  const { dispatches, ...fields } = content;
  return { fields, dispatches };
}

function write(
  files: Files,
  taskFolder: string,
  fields: Readonly<Record<string, unknown>>,
  summaries: readonly DispatchSummary[],
  sync: boolean,
): void {
  const own = Object.entries(fields).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  const lines = [...summaries].sort(compareByStart).map((summary) => `\n    ${JSON.stringify(summary)}`);
  const text = `{\n${own.join('')}  "dispatches": [${lines.join(',')}\n  ]\n}\n`;
  replaceFile(
    files,
    taskFilePath(taskFolder),
    join(taskFolder, names.taskTemporary),
    Buffer.from(text),
    sync,
  );
}

function summarise(envelope: DispatchEnvelope): DispatchSummary {
  const { dispatchId, role, status, cost, startedAt, parentDispatchId } = envelope;
  return { dispatchId, role, status, cost, startedAt, parentDispatchId };
}

/** An entry of a running dispatch may be old: the dispatch may have ended while another process wrote the file. */
function isOfEnded(value: unknown): value is DispatchSummary {
  return isSummary(value) && value.status !== 'running';
}

function isSummary(value: unknown): value is DispatchSummary {
  if (!isPlainObject(value) || typeof value.dispatchId !== 'string') return false;
  return value.startedAt === null || typeof value.startedAt === 'string';
}

function byId(summary: DispatchSummary): [string, DispatchSummary] {
  return [summary.dispatchId, summary];
}

/** Milliseconds. */
const longestWait = 100;
const waitBetween = 2;

/**
 * Writes the task.json of tasks. A lock lets one process at a time write each file. The index in it is written at most once a
 * second, and when the store closes.
 */
export class TaskIndex {
  readonly #system: StoreSystem;
  readonly #root: string;
  readonly #locks: WriterLocks;
  readonly #later: LaterWork;
  readonly #sync: boolean;
  /** The ids of changed dispatches that are not in the index yet, by the folder of their task. */
  readonly #changed = new Map<string, Set<string>>();

  constructor(system: StoreSystem, root: string, locks: WriterLocks, later: LaterWork, sync: boolean) {
    this.#system = system;
    this.#root = root;
    this.#locks = locks;
    this.#later = later;
    this.#sync = sync;
  }

  /** The folders of the tasks whose index is older than a change of a dispatch. */
  get unwritten(): string[] {
    return [...this.#changed.keys()];
  }

  /** Writes the record of a task. @throws STORE_NEWER; STORE_LOCKED if other processes write it for 100 milliseconds */
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
    // Also the names of the folders, which can be new.
    if (this.#sync) syncFolders(files, taskFolder, this.#root);
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
      const readEnvelope = (dispatchId: string) => readIfPossible(files, taskFolder, dispatchId);
      writeTaskFile(files, taskFolder, change, readEnvelope, sync);
    } finally {
      this.#locks.release(lock.path);
    }
  }
}

/** Null for a dispatch that cannot be read: the index omits it, and a read of the dispatch itself reports the damage. */
function readIfPossible(files: Files, taskFolder: string, dispatchId: string): DispatchEnvelope | null {
  try {
    const envelope = readStoredEnvelope(files, dispatchPaths(taskFolder, dispatchId).file);
    return envelope?.dispatchId === dispatchId ? envelope : null;
  } catch (error) {
    if (storeErrors.is(error) || isSystemError(error)) return null;
    throw error;
  }
}
