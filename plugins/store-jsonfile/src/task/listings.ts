import { join, sep } from 'node:path';
import type { DispatchEnvelope } from '@hansard/events';
import {
  compareByStart,
  type DispatchListing,
  type DispatchPage,
  isStoreError,
  type ListDispatchesOptions,
  type TaskListing,
} from '@hansard/provider';
import { pageOfDispatches, withFile } from '@hansard/store-kit';
import { dispatchPaths, names } from '../disk-format.ts';
import { type DispatchName, readDispatchEnvelope } from '../dispatch/dispatch-file.ts';
import { DispatchReader } from '../dispatch/dispatch-reader.ts';
import type { FileStats } from '../files.ts';
import { readRecentEvents } from '../lines/read-events.ts';
import type { StoreSystem } from '../store-system.ts';
import { listDispatchIds, resolveTaskFolder, walkTaskDirs } from '../task-folder.ts';
import { listTask } from './task-file.ts';

/**
 * Milliseconds. What was read from a file is kept only if the file was unchanged for so long, because two writes within the
 * resolution of the times of a file system can leave the same time.
 */
const leastAge = 100;

/** A dispatch without the time of its last event. `envelope` is shared: a caller receives a copy. */
interface Listed extends Omit<DispatchListing, 'lastActiveAt'> {
  /** What is known of a dispatch that can be read, and the folder of its task. */
  readonly known?: Known;
  readonly folder?: string;
}

/** What was read from a file with these facts. */
interface Known {
  readonly stats: Pick<FileStats, 'ino' | 'size' | 'ctimeMs'>;
  readonly envelope: DispatchEnvelope;
  /** The length of the envelope as JSON. */
  readonly length: number;
  /** Absent: it was not read yet. */
  lastActiveAt?: string | null;
}

/**
 * Lists tasks and dispatches. It remembers what it read of each dispatch until its file changes, so a further page costs one `lstat` for
 * each. Envelopes beyond `mostKept` are not remembered, and read again for each page.
 */
export class Listings {
  readonly #system: Pick<StoreSystem, 'files' | 'clock'>;
  readonly #root: string;
  readonly #mostKept: number;
  /** By task, then by the id of the dispatch. */
  readonly #known = new Map<string, Map<string, Known>>();
  /** The length of all known envelopes. */
  #kept = 0;

  /** `mostKept`: how many characters of envelopes are remembered, 2 to 4 bytes of memory for each. */
  constructor(
    system: Pick<StoreSystem, 'files' | 'clock'>,
    root: string,
    mostKept: number = 64 * 1_024 * 1_024,
  ) {
    this.#system = system;
    this.#root = root;
    this.#mostKept = mostKept;
  }

  tasks(): TaskListing[] {
    return this.#taskDirs()
      .map((taskDir) => listTask(this.#system.files, this.#root, taskDir))
      .filter((listing) => listing !== null);
  }

  /** The envelopes of a task by their start. @throws the error of the first dispatch that cannot be read */
  envelopes(taskDir: string): DispatchEnvelope[] {
    const listed = this.#list(taskDir);
    const unreadable = listed.find(({ envelope }) => envelope === null);
    if (unreadable !== undefined) throw unreadable.error;
    const envelopes = listed.flatMap(({ envelope }) => structuredClone(envelope) ?? []);
    return envelopes.sort(compareByStart);
  }

  page(options: ListDispatchesOptions): DispatchPage {
    const { dispatches, next } = pageOfDispatches(this.#listAll(options.taskDir), options);
    return { dispatches: dispatches.map((listed) => this.#withActivity(listed)), next };
  }

  #taskDirs(): string[] {
    return withFile('list', this.#root, () => [...walkTaskDirs(this.#system.files, this.#root)]).sort();
  }

  /** The dispatches of a task or of all, and an entry for each task that cannot be listed. */
  #listAll(taskDir: string | undefined): Listed[] {
    return (taskDir === undefined ? this.#taskDirs() : [taskDir]).flatMap((task) => {
      try {
        return this.#list(task);
      } catch (error) {
        if (isStoreError(error) && error.isTransient) throw error;
        // A link that leads one task out of the store does not end the listing of the others.
        const isOfTask = taskDir === undefined && isStoreError(error, 'STORE_INVALID_PATH');
        if (!isOfTask && !isStoreError(error, 'STORE_CORRUPT') && !isStoreError(error, 'STORE_UNAVAILABLE'))
          throw error;
        return [{ taskDir: task, dispatchId: null, envelope: null, error }];
      }
    });
  }

  #list(taskDir: string): Listed[] {
    const { files } = this.#system;
    const folder = withFile('look up', this.#root, () => resolveTaskFolder(files, this.#root, taskDir));
    const before = this.#known.get(taskDir);
    const known = before ?? new Map<string, Known>();
    const listed: Listed[] = [];
    const readAt = this.#system.clock.now();
    // Not joined for each file, which would cost a sixth of its `lstat`.
    const dispatches = join(folder, names.dispatches) + sep;
    for (const dispatchId of withFile('list', folder, () => listDispatchIds(files, folder))) {
      const file = dispatches + dispatchId + names.dispatch;
      const old = known.get(dispatchId);
      try {
        const found = withFile('read', file, () => this.#read(file, old));
        if (found !== old) this.#replace(known, dispatchId, found, readAt);
        if (found === null) continue;
        listed.push({ taskDir, dispatchId, envelope: found.envelope, known: found, folder });
      } catch (error) {
        if (!isStoreError(error) || error.isTransient) throw error;
        this.#replace(known, dispatchId, null, readAt);
        listed.push({ taskDir, dispatchId, envelope: null, error });
      }
    }
    if (known.size > listed.length) this.#forgetOthers(known, listed);
    if (known.size > 0) this.#known.set(taskDir, known);
    else this.#known.delete(taskDir);
    return listed;
  }

  /** Null if there is no such file. */
  #read(file: string, before: Known | undefined): Known | null {
    const { files } = this.#system;
    const stats = files.lstat(file);
    if (stats === null) return null;
    const { ino, size, ctimeMs } = stats;
    const isSame =
      before?.stats.ino === ino && before.stats.size === size && before.stats.ctimeMs === ctimeMs;
    if (isSame) return before;
    const envelope = readDispatchEnvelope(files, file);
    return envelope && { stats: { ino, size, ctimeMs }, envelope, length: JSON.stringify(envelope).length };
  }

  /** Remembers a dispatch as it was read at a time, and forgets its earlier state. */
  #replace(known: Map<string, Known>, dispatchId: string, found: Known | null, readAt: number): void {
    this.#kept -= known.get(dispatchId)?.length ?? 0;
    known.delete(dispatchId);
    if (found === null || readAt - found.stats.ctimeMs < leastAge) return;
    if (this.#kept + found.length > this.#mostKept) return;
    this.#kept += found.length;
    known.set(dispatchId, found);
  }

  /** Forgets the dispatches that are no longer there. */
  #forgetOthers(known: Map<string, Known>, listed: readonly Listed[]): void {
    const ids = new Set(listed.map(({ dispatchId }) => dispatchId));
    for (const dispatchId of known.keys())
      if (!ids.has(dispatchId)) this.#replace(known, dispatchId, null, 0);
  }

  #withActivity({ known, folder, ...listed }: Listed): DispatchListing {
    const { taskDir, dispatchId } = listed;
    if (known === undefined || folder === undefined || dispatchId === null)
      return { ...listed, lastActiveAt: null };
    const name = { taskDir, dispatchId, paths: dispatchPaths(folder, dispatchId) };
    known.lastActiveAt ??= this.#lastActiveAt(name, known.envelope);
    return { ...listed, envelope: structuredClone(known.envelope), lastActiveAt: known.lastActiveAt };
  }

  /** Null if the end of the events cannot be read. */
  #lastActiveAt(name: DispatchName, { startedAt }: DispatchEnvelope): string | null {
    const { files } = this.#system;
    try {
      return withFile('read', name.paths.file, () => {
        const reader = DispatchReader.open(files, name);
        try {
          const [last] = reader.read((range) => readRecentEvents(range, 1));
          return last?.timestamp ?? startedAt;
        } finally {
          reader.close();
        }
      });
    } catch (error) {
      if (!isStoreError(error) || error.isTransient) throw error;
      return null;
    }
  }
}
