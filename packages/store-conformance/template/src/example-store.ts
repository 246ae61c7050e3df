import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type CapturedEvent,
  compareByStart,
  type DispatchClaim,
  type DispatchEnvelope,
  type DispatchListing,
  type DispatchPage,
  type DispatchStoreProvider,
  type EnvelopeUpdates,
  type EventPage,
  isInternalTask,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type StoreCapabilities,
  type StoreRepair,
  storeErrors,
  type TaskListing,
  type TaskRecord,
} from '@hansard/provider';
import {
  assertDispatchPath,
  countOfPage,
  dispatchNotClaimed,
  dispatchNotFound,
  knownEnvelope,
  knownTask,
  orMissing,
  pageOfDispatches,
  pageRange,
  realPath,
  storeClosed,
  taskFolderBelow,
  withFile,
} from '@hansard/store-kit';
import {
  appendToLog,
  createDispatchLog,
  type DispatchLog,
  readDispatchLog,
  writeEnvelope,
  writeEpoch,
} from './dispatch-log.ts';

export const exampleStoreCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'process',
  search: false,
  watch: false,
  deleteDispatch: false,
  rewrite: false,
  integrity: 'none',
};

/** Opens the store in a folder. */
export function openExampleStore(options: { readonly root: string }): DispatchStoreProvider {
  return new ExampleStore(realPath(resolve(options.root)));
}

/** It is simple: a dispatch that was used stays in memory until the store is closed. */
class ExampleStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities = exampleStoreCapabilities;
  readonly #root: string;
  /** The dispatches that were used, by their files. */
  readonly #logs = new Map<string, DispatchLog>();
  /** The files of the claimed dispatches. One process has the store, so no other opening can have claimed them. */
  readonly #claimed = new Set<string>();
  readonly #repairs: StoreRepair[] = [];
  #closed = false;

  constructor(root: string) {
    this.#root = root;
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    const file = this.#logFile(taskDir, envelope.dispatchId);
    createFolder(join(this.#taskFolder(taskDir), 'dispatches'));
    this.#logs.set(file, createDispatchLog(file, taskDir, envelope));
    if (envelope.status === 'running') this.#claimed.add(file);
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    const log = this.#getLog(taskDir, dispatchId);
    if (!this.#claimed.has(log.file)) writeEpoch(log);
    this.#claimed.add(log.file);
    return { envelope: structuredClone(log.envelope), epoch: log.epoch };
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    this.#claimed.delete(this.#logFile(taskDir, dispatchId));
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    const log = this.#getClaimedLog(taskDir, dispatchId);
    writeEnvelope(log, { ...log.envelope, ...updates });
    return structuredClone(log.envelope);
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): number {
    const [position] = this.appendEvents(taskDir, dispatchId, [event]);
    return position as number;
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): number[] {
    return appendToLog(this.#getClaimedLog(taskDir, dispatchId), events);
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    const ids = this.#dispatchIds(taskDir);
    return ids.map((id) => structuredClone(this.#getLog(taskDir, id).envelope)).sort(compareByStart);
  }

  listDispatches(options: ListDispatchesOptions = {}): DispatchPage {
    const listed = options.taskDir === undefined ? this.#taskDirs(options.internal) : [options.taskDir];
    const entries = listed.flatMap((taskDir) =>
      this.#dispatchIds(taskDir).map((id) => this.#listDispatch(taskDir, id)),
    );
    return pageOfDispatches(entries, options);
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    return structuredClone(this.#findLog(taskDir, dispatchId)?.envelope ?? null);
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    return structuredClone(this.#getLog(taskDir, dispatchId).events);
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    const { events } = this.#getLog(taskDir, dispatchId);
    return structuredClone(events.slice(Math.max(events.length - count, 0)));
  }

  readEvents(taskDir: string, dispatchId: string, options?: ReadEventsOptions): EventPage {
    const { events } = this.#getLog(taskDir, dispatchId);
    const { first, end } = pageRange(events.length, options);
    const page = events.slice(first, end);
    // A page also ends after 8 MiB, except one of the last events.
    const count = options?.last === undefined ? countOfPage(page.map(sizeOf)) : page.length;
    return { events: structuredClone(page.slice(0, count)), first, next: first + count - 1 };
  }

  putTask(taskDir: string, task: TaskRecord): void {
    const folder = this.#taskFolder(taskDir);
    createFolder(folder);
    // A record of a newer version is not replaced.
    this.findTask(taskDir);
    const temporary = join(folder, `task.json.${process.pid}.tmp`);
    withFile('write', folder, () => {
      writeFileSync(temporary, JSON.stringify(task, null, 2));
      renameSync(temporary, join(folder, 'task.json'));
    });
  }

  findTask(taskDir: string): TaskRecord | null {
    const file = join(this.#taskFolder(taskDir), 'task.json');
    const text = withFile('read', file, () => orMissing(() => readFileSync(file, 'utf8')));
    if (text === null) return null;
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch (cause) {
      throw storeErrors.error('STORE_CORRUPT', `${file} is not JSON. Restore it from a copy.`, {
        cause,
        details: { file },
      });
    }
    return knownTask(record, file, { file });
  }

  listTasks(): TaskListing[] {
    return this.#taskDirs().map((taskDir) => {
      try {
        return { taskDir, task: this.findTask(taskDir) };
      } catch (error) {
        if (storeErrors.is(error)) return { taskDir, task: null, error };
        throw error;
      }
    });
  }

  getRepairs(): StoreRepair[] {
    this.#assertOpen();
    return structuredClone(this.#repairs);
  }

  close(): void {
    this.#closed = true;
    this.#logs.clear();
    this.#claimed.clear();
  }

  #assertOpen(): void {
    if (this.#closed) throw storeClosed(this.#root);
  }

  #taskFolder(taskDir: string): string {
    this.#assertOpen();
    return withFile('look up', this.#root, () => taskFolderBelow(this.#root, taskDir, 'dispatches'));
  }

  #logFile(taskDir: string, dispatchId: string): string {
    this.#assertOpen();
    assertDispatchPath(taskDir, dispatchId);
    return join(this.#root, taskDir, 'dispatches', `${dispatchId}.log`);
  }

  #findLog(taskDir: string, dispatchId: string): DispatchLog | null {
    const file = this.#logFile(taskDir, dispatchId);
    const log = this.#logs.get(file) ?? this.#readLog(taskDir, dispatchId);
    // A newer version can have written an envelope that this one does not know.
    if (log !== null && !this.#claimed.has(file)) knownEnvelope(log.envelope, file, { file });
    return log;
  }

  #readLog(taskDir: string, dispatchId: string): DispatchLog | null {
    const file = this.#logFile(taskDir, dispatchId);
    this.#taskFolder(taskDir);
    const log = readDispatchLog(file);
    if (log === null) return null;
    this.#logs.set(file, log);
    if (log.repaired !== null) this.#repairs.push({ taskDir, dispatchId, ...log.repaired });
    return log;
  }

  #getLog(taskDir: string, dispatchId: string): DispatchLog {
    const log = this.#findLog(taskDir, dispatchId);
    if (log !== null) return log;
    throw dispatchNotFound(taskDir, dispatchId);
  }

  #getClaimedLog(taskDir: string, dispatchId: string): DispatchLog {
    const log = this.#getLog(taskDir, dispatchId);
    if (this.#claimed.has(log.file)) return log;
    throw dispatchNotClaimed(taskDir, dispatchId);
  }

  #dispatchIds(taskDir: string): string[] {
    const folder = join(this.#taskFolder(taskDir), 'dispatches');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => name.slice(0, -'.log'.length));
  }

  #taskDirs(internal = false): string[] {
    this.#assertOpen();
    const folders = globSync(['**/task.json', '**/dispatches/*.log'], { cwd: this.#root }).map((path) =>
      path.endsWith('.log') ? dirname(dirname(path)) : dirname(path),
    );
    return [...new Set(folders)].filter((taskDir) => isInternalTask(taskDir) === internal).sort();
  }

  #listDispatch(taskDir: string, dispatchId: string): DispatchListing {
    try {
      const { envelope, events } = this.#getLog(taskDir, dispatchId);
      const last = events.at(-1);
      const lastActiveAt = last === undefined ? envelope.startedAt : last.timestamp;
      return { taskDir, dispatchId, envelope: structuredClone(envelope), lastActiveAt };
    } catch (error) {
      if (storeErrors.is(error) && !error.isTransient)
        return { taskDir, dispatchId, envelope: null, lastActiveAt: null, error };
      throw error;
    }
  }
}

function createFolder(folder: string): void {
  withFile('create', folder, () => mkdirSync(folder, { recursive: true }));
}

function sizeOf(event: CapturedEvent): number {
  return Buffer.byteLength(JSON.stringify(event));
}
