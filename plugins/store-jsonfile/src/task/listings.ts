import { join, sep } from 'node:path';
import { type DispatchEnvelope, type DispatchStatus, definedOnly } from '@hansard/events';
import {
  compareByStart,
  type DispatchListing,
  type DispatchPage,
  isInternalTask,
  type ListDispatchesOptions,
  type StoreError,
  storeErrors,
  type TaskListing,
} from '@hansard/provider';
import {
  checksumOf,
  encodeChecksum,
  isSystemError,
  pageOfDispatches,
  withFile,
  withRenamedTasks,
} from '@hansard/store-kit';
import { dispatchPaths, names } from '../disk-format.ts';
import { type DispatchName, readDispatchEnvelope } from '../dispatch/dispatch-file.ts';
import { DispatchReader } from '../dispatch/dispatch-reader.ts';
import type { FileStats, Files } from '../files.ts';
import { readText, replaceFile } from '../lines/open-file.ts';
import { readRecentEvents } from '../lines/read-events.ts';
import type { StoreSystem } from '../store-system.ts';
import { listDispatchIds, resolveTaskFolder, walkTaskDirs } from '../task-folder.ts';
import { listTask } from './task-file.ts';

/**
 * Milliseconds. What was read from a file is kept only if the file was unchanged for so long, because two writes within the
 * resolution of the times of a file system can leave the same time.
 */
const leastAge = 100;

/** How many dispatches a listing reads of a task before it keeps what it read for later openings. */
const leastToKeep = 8;
/** How often a page is made again because a dispatch changed meanwhile. */
const mostAttempts = 3;

/** A dispatch with what decides its place in a listing. */
interface Listed {
  readonly taskDir: string;
  readonly dispatchId: string | null;
  /** Null: it cannot be read. */
  readonly envelope: Pick<DispatchEnvelope, 'startedAt' | 'status'> | null;
  readonly error?: StoreError;
  /** What is known of a dispatch that can be read, and its task. */
  readonly known?: Known;
  readonly task?: KnownTask;
}

/** What was read from a file with these facts. */
interface Known extends ListedFacts {
  lastActiveAt?: string | null;
  /** Absent: only an earlier opening read it, or it is not remembered. It is shared: a caller receives a copy. */
  envelope?: DispatchEnvelope;
}

/** What is known of the dispatches of a task, by id. */
interface KnownTask {
  readonly taskDir: string;
  readonly folder: string;
  readonly dispatches: Map<string, Known>;
  /** How many of them the listing file does not have as they are. */
  unkept: number;
}

/**
 * Lists tasks and dispatches. It remembers what it read of each dispatch until its file changes, so a further page costs one `lstat` for
 * each. The place of each dispatch in a listing is also kept in a file, for other openings (`listing-file.ts`). Envelopes beyond
 * `mostKept` are not remembered, and read again for each page.
 */
export class Listings {
  readonly #system: Pick<StoreSystem, 'files' | 'clock'>;
  readonly #root: string;
  readonly #mostKept: number;
  readonly #known = new Map<string, KnownTask>();
  /** The length of all known envelopes as JSON. */
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
    const listings = this.#list(taskDir).flatMap((listed) => this.#loaded(listed) ?? []);
    this.#keep(taskDir);
    const unreadable = listings.find(({ envelope }) => envelope === null);
    if (unreadable !== undefined) throw unreadable.error;
    return listings.flatMap(({ envelope }) => structuredClone(envelope) ?? []).sort(compareByStart);
  }

  page(options: ListDispatchesOptions): DispatchPage {
    for (let attempt = 1; ; attempt += 1) {
      const { dispatches, next } = pageOfDispatches(this.#listAll(options), options);
      const isLast = attempt === mostAttempts;
      const loaded = dispatches.map((listed) => this.#loaded(listed));
      // A dispatch that changed since its place was decided can belong to another page.
      const isAsListed = loaded.every((found, at) => isAt(dispatches[at], found));
      if (!isAsListed && !isLast) continue;
      const listed = loaded.flatMap((found) => (found === null ? [] : this.#withActivity(found)));
      for (const taskDir of this.#known.keys()) this.#keep(taskDir);
      return { dispatches: listed, next };
    }
  }

  #taskDirs(internal = false): string[] {
    const found = withFile('list', this.#root, () => [...walkTaskDirs(this.#system.files, this.#root)]);
    return found.filter((taskDir) => isInternalTask(taskDir) === internal).sort();
  }

  /** The dispatches of a task or of all, and an entry for each task that cannot be listed. */
  #listAll({ taskDir, internal }: ListDispatchesOptions): Listed[] {
    return (taskDir === undefined ? this.#taskDirs(internal) : [taskDir]).flatMap((task) => {
      try {
        return this.#list(task);
      } catch (error) {
        if (storeErrors.is(error) && error.isTransient) throw error;
        // A link that leads one task out of the store does not end the listing of the others.
        const isOfTask = taskDir === undefined && storeErrors.is(error, 'STORE_INVALID_PATH');
        if (
          !isOfTask &&
          !storeErrors.is(error, 'STORE_CORRUPT') &&
          !storeErrors.is(error, 'STORE_UNAVAILABLE')
        )
          throw error;
        return [{ taskDir: task, dispatchId: null, envelope: null, error }];
      }
    });
  }

  #list(taskDir: string): Listed[] {
    const { files } = this.#system;
    const folder = withFile('look up', this.#root, () => resolveTaskFolder(files, this.#root, taskDir));
    const ids = withFile('list', folder, () => listDispatchIds(files, folder));
    const task = this.#known.get(taskDir) ?? this.#openTask(taskDir, folder);
    const listed: Listed[] = [];
    const readAt = this.#system.clock.now();
    // Not joined for each file, which would cost a sixth of its `lstat`.
    const dispatches = join(folder, names.dispatches) + sep;
    for (const dispatchId of ids) {
      const file = dispatches + dispatchId + names.dispatch;
      try {
        const known = withFile('read', file, () => this.#read(task, dispatchId, file, readAt));
        if (known !== null) listed.push({ taskDir, dispatchId, envelope: known, known, task });
      } catch (error) {
        if (!storeErrors.is(error) || error.isTransient) throw error;
        this.#forget(task, dispatchId);
        listed.push({ taskDir, dispatchId, envelope: null, error });
      }
    }
    if (task.dispatches.size > listed.length) this.#forgetOthers(task, new Set(ids));
    if (task.dispatches.size > 0) this.#known.set(taskDir, task);
    else this.#known.delete(taskDir);
    return withRenamedTasks(listed, folder);
  }

  #openTask(taskDir: string, folder: string): KnownTask {
    return { taskDir, folder, dispatches: readListing(this.#system.files, folder, taskDir), unkept: 0 };
  }

  /** What is known of a file, read again if it has changed. Null if there is no such file. */
  #read(task: KnownTask, dispatchId: string, file: string, readAt: number): Known | null {
    const { files } = this.#system;
    const stats = files.lstat(file);
    const before = task.dispatches.get(dispatchId);
    if (stats !== null && before !== undefined && isSameFile(before, stats)) return before;
    this.#forget(task, dispatchId);
    const envelope = stats === null ? null : readDispatchEnvelope(files, nameIn(task, dispatchId));
    if (stats === null || envelope === null) return null;
    const { ino, size, ctimeMs } = stats;
    const { startedAt, status } = envelope;
    const known: Known = { ino, size, ctimeMs, startedAt, status };
    if (readAt - ctimeMs < leastAge) return { ...known, envelope };
    task.dispatches.set(dispatchId, known);
    task.unkept += 1;
    this.#remember(known, envelope);
    return known.envelope === undefined ? { ...known, envelope } : known;
  }

  #remember(known: Known, envelope: DispatchEnvelope): void {
    const { length } = JSON.stringify(envelope);
    if (this.#kept + length > this.#mostKept) return;
    this.#kept += length;
    known.envelope = envelope;
  }

  #forget(task: KnownTask, dispatchId: string): void {
    const known = task.dispatches.get(dispatchId);
    if (known === undefined) return;
    task.dispatches.delete(dispatchId);
    if (known.envelope !== undefined) this.#kept -= JSON.stringify(known.envelope).length;
  }

  /** Forgets the dispatches that are no longer there. */
  #forgetOthers(task: KnownTask, ids: ReadonlySet<string>): void {
    for (const dispatchId of task.dispatches.keys())
      if (!ids.has(dispatchId)) {
        this.#forget(task, dispatchId);
        task.unkept += 1;
      }
  }

  /** Keeps what is known of a task for other openings, if enough of it is new. */
  #keep(taskDir: string): void {
    const task = this.#known.get(taskDir);
    if (task === undefined || task.unkept < leastToKeep) return;
    writeListing(this.#system.files, task);
    task.unkept = 0;
  }

  /** The dispatch with its envelope, as it is now if that is not remembered; null if it was deleted meanwhile. */
  #loaded(listed: Listed): Loaded | null {
    const { taskDir, dispatchId, known, task, error } = listed;
    if (known === undefined || task === undefined || dispatchId === null)
      return { taskDir, dispatchId, envelope: null, ...definedOnly({ error }) };
    if (known.envelope !== undefined) return { taskDir, dispatchId, envelope: known.envelope, known, task };
    const name = nameIn(task, dispatchId);
    const { file } = name.paths;
    try {
      const { files } = this.#system;
      const envelope = withFile('read', file, () => readDispatchEnvelope(files, name));
      if (envelope === null) return null;
      const isKnown = task.dispatches.get(dispatchId) === known;
      const stats = isKnown ? files.lstat(file) : null;
      if (stats !== null && isSameFile(known, stats)) this.#remember(known, envelope);
      return { taskDir, dispatchId, envelope, known, task };
    } catch (error) {
      if (!storeErrors.is(error) || error.isTransient) throw error;
      return { taskDir, dispatchId, envelope: null, error };
    }
  }

  #withActivity({ known, task, ...listed }: Loaded): DispatchListing {
    const { dispatchId, envelope } = listed;
    if (known === undefined || task === undefined || dispatchId === null || envelope === null)
      return { ...listed, lastActiveAt: null };
    if (known.lastActiveAt === undefined) {
      known.lastActiveAt = this.#lastActiveAt(nameIn(task, dispatchId), envelope);
      if (task.dispatches.get(dispatchId) === known) task.unkept += 1;
    }
    return { ...listed, envelope: structuredClone(envelope), lastActiveAt: known.lastActiveAt };
  }

  /** Null if the end of the events cannot be read. */
  #lastActiveAt(name: DispatchName, { startedAt }: DispatchEnvelope): string | null {
    const { files } = this.#system;
    try {
      return withFile('read', name.paths.file, () => {
        const reader = DispatchReader.open(files, name);
        try {
          const [last] = reader.read((range) => readRecentEvents(range, 1));
          return last === undefined ? startedAt : last.timestamp;
        } finally {
          reader.close();
        }
      });
    } catch (error) {
      if (!storeErrors.is(error) || error.isTransient) throw error;
      return null;
    }
  }
}

function nameIn({ taskDir, folder }: KnownTask, dispatchId: string): DispatchName {
  return { taskDir, dispatchId, paths: dispatchPaths(folder, dispatchId) };
}

/** A dispatch with its envelope; null if it cannot be read. */
interface Loaded extends Omit<DispatchListing, 'lastActiveAt'> {
  readonly known?: Known;
  readonly task?: KnownTask;
}

function isSameFile(one: FileFacts, other: FileFacts): boolean {
  return one.ino === other.ino && one.size === other.size && one.ctimeMs === other.ctimeMs;
}

/** Whether a dispatch is as it was when its place was decided. */
function isAt(listed: Listed | undefined, found: Loaded | null): boolean {
  const { startedAt, status } = listed?.envelope ?? {};
  return found?.envelope?.startedAt === startedAt && found?.envelope?.status === status;
}

/** The facts of a file that change with each write. */
type FileFacts = Pick<FileStats, 'ino' | 'size' | 'ctimeMs'>;

/** What decides whether a dispatch is on a page, and where. It holds no content. */
interface ListedFacts extends FileFacts {
  readonly startedAt: string | null;
  readonly status: DispatchStatus;
  /** Absent: it was not read yet. */
  readonly lastActiveAt?: string | null;
}

const format = 1;

/**
 * What an earlier listing kept of a task, by dispatch id: a hint, of which each entry counts only for a file with the same facts.
 * Empty if the file is absent, damaged or of another format, or cannot be read.
 */
function readListing(files: Files, taskFolder: string, taskDir: string): Map<string, ListedFacts> {
  const kept = new Map<string, ListedFacts>();
  const text = readIfPossible(files, join(taskFolder, names.listing));
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== headOf(taskDir, body)) return kept;
  try {
    for (const line of body.split('\n').slice(0, -1)) {
      const [id, ino, size, ctimeMs, startedAt, status, lastActiveAt] = JSON.parse(line);
      kept.set(id, { ino, size, ctimeMs, startedAt, status, ...definedOnly({ lastActiveAt }) });
    }
  } catch {
    // Another program wrote it, with the right checksum.
    return new Map();
  }
  return kept;
}

/** Keeps what a listing read. It is a help for the next one, so a refusal of the system, as in a folder without permission, is not an error. */
function writeListing(files: Files, { taskDir, folder, dispatches }: KnownTask): void {
  const lines = [...dispatches].map(([id, { ino, size, ctimeMs, startedAt, status, lastActiveAt }]) => {
    const facts = [id, ino, size, ctimeMs, startedAt, status];
    return `${JSON.stringify(lastActiveAt === undefined ? facts : [...facts, lastActiveAt])}\n`;
  });
  const body = lines.join('');
  const content = Buffer.from(`${headOf(taskDir, body)}\n${body}`);
  try {
    const temporary = join(folder, names.listingTemporary);
    replaceFile(files, join(folder, names.listing), temporary, content, false);
  } catch (error) {
    if (!isSystemError(error) && !storeErrors.is(error)) throw error;
  }
}

/** The first line, with the name of the task, whose folder can get another one. Two processes that write at the same time can leave a mixture, which the checksum shows. */
function headOf(taskDir: string, body: string): string {
  return JSON.stringify({ format, task: taskDir, crc: encodeChecksum(checksumOf(body)) });
}

function readIfPossible(files: Files, path: string): string {
  try {
    return readText(files, path, 'read');
  } catch (error) {
    if (isSystemError(error) || storeErrors.is(error)) return '';
    throw error;
  }
}
