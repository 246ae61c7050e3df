import { join, resolve } from 'node:path';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import {
  type ClaimState,
  type DispatchClaim,
  type DispatchPage,
  type DispatchRewrite,
  type DispatchRewritten,
  type DispatchStoreProvider,
  type DispatchVerification,
  type EventPage,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type RemainsScope,
  type SearchEventsOptions,
  type SearchHit,
  type StopWatching,
  type StoreCapabilities,
  type StoreRepair,
  storeErrors,
  type TaskListing,
  type WatchScope,
} from '@hansard/provider';
import {
  assertNotRemote,
  defaultLeaseMs,
  dispatchNotFound,
  isSystemError,
  orMissing,
  realPath,
  toFileError,
  withFile,
} from '@hansard/store-kit';
import { names } from './disk-format.ts';
import { DispatchClaims, LeftCopies } from './dispatch/dispatch-claims.ts';
import type { DispatchContext } from './dispatch/dispatch-context.ts';
import { readDispatchEnvelope } from './dispatch/dispatch-file.ts';
import { OpenDispatches } from './dispatch/open-dispatches.ts';
import type { Access } from './files.ts';
import { DispatchIntegrity } from './integrity/dispatch-integrity.ts';
import { LaterWork } from './later-work.ts';
import { WriterLocks } from './locks/writer-locks.ts';
import { ScopeWatch } from './scope-watch.ts';
import { searchEvents } from './search-events.ts';
import { StoreRemains } from './store-remains.ts';
import { type StoreSystem, systemFor } from './store-system.ts';
import { Listings } from './task/listings.ts';
import { readTaskRecord, TaskIndex } from './task/task-file.ts';
import { listDispatchIds } from './task-folder.ts';

/** Keeps each dispatch in one JSON file (see disk-format.ts). Every method is synchronous. Created by `openJsonFileStore`. */
export class JsonFileDispatchStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #root: string;
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  readonly #context: DispatchContext;
  readonly #index: TaskIndex;
  readonly #listings: Listings;
  readonly #dispatches: OpenDispatches;
  readonly #watches: ScopeWatch;
  readonly #repairs: StoreRepair[] = [];
  readonly #integrity: DispatchIntegrity;
  readonly #remains: StoreRemains;
  readonly #leaseMs: number;
  #isPlaceChecked = false;

  constructor(root: string, capabilities: StoreCapabilities, leaseMs: number, system: StoreSystem) {
    const sync = capabilities.durability === 'disk';
    this.capabilities = capabilities;
    this.#root = root;
    this.#system = system;
    this.#leaseMs = leaseMs;
    this.#watches = new ScopeWatch(system.files, system.clock, root);
    this.#locks = new WriterLocks(system, join(root, names.writers), leaseMs);
    const later = new LaterWork(system.clock);
    this.#context = {
      ...system,
      root,
      claims: new DispatchClaims(system, this.#locks, new LeftCopies(system.files)),
      sync,
      onRepair: (repair) => this.#repairs.push(repair),
      listeners: this.#watches.listeners,
      later,
    };
    this.#dispatches = new OpenDispatches(this.#context);
    this.#integrity = new DispatchIntegrity(this.#context);
    this.#remains = new StoreRemains(this.#context, this.#locks);
    this.#listings = new Listings(system, root);
    this.#index = new TaskIndex(system, root, this.#locks, later, sync);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    const name = this.#dispatches.name(taskDir, envelope.dispatchId);
    this.#assertPlace();
    withFile('create', name.paths.file, () => this.#dispatches.create(name, envelope));
    this.#index.refresh(name.paths.task, name.dispatchId);
    this.#watches.notify(taskDir, name.dispatchId);
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    this.#assertPlace();
    return withFile('claim', handle.name.paths.file, () => handle.claim());
  }

  /** Called before each work that claims; asks once. @throws STORE_UNAVAILABLE */
  #assertPlace(): void {
    if (this.#isPlaceChecked) return;
    assertNotRemote(this.#root, this.#leaseMs, this.#system.fileSystemOf(this.#root));
    this.#isPlaceChecked = true;
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const name = this.#dispatches.openName(taskDir, dispatchId);
    if (this.#context.claims.has(name))
      withFile('release', name.paths.file, () => this.#dispatches.release(name));
  }

  findClaim(taskDir: string, dispatchId: string): ClaimState | null {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('read', handle.name.paths.lock, () => {
      handle.assertExists();
      return this.#context.claims.stateOf(handle.name);
    });
  }

  findClaims(taskDir: string, dispatchIds: readonly string[]): (ClaimState | null)[] {
    const names = this.#dispatches.names(taskDir, dispatchIds);
    const { files } = this.#system;
    return names.map((name) =>
      withFile('read', name.paths.lock, () =>
        orMissing(() => files.stat(name.paths.file)) === null ? null : this.#context.claims.stateOf(name),
      ),
    );
  }

  breakClaim(taskDir: string, dispatchId: string): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    withFile('release', handle.name.paths.lock, () => {
      // Another opening can have taken over and deleted what this one has claimed.
      if (this.#context.files.stat(handle.name.paths.file) === null)
        throw dispatchNotFound(taskDir, dispatchId);
      const state = this.#context.claims.stateOf(handle.name);
      if (state === null) return;
      if (!state.isOwn) handle.claim(true);
      this.#dispatches.release(handle.name);
    });
  }

  updateDispatch(taskDir: string, dispatchId: string, updates: EnvelopeUpdates): DispatchEnvelope {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { paths } = handle.name;
    const envelope = withFile('update', paths.file, () => handle.update(updates));
    if (envelope.status !== 'running') this.#index.refresh(paths.task, dispatchId);
    this.#watches.notify(taskDir, dispatchId);
    return envelope;
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): number {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { writer } = handle;
    try {
      // As a rule it is being written.
      return (writer === null || writer.isOver ? handle.writing() : writer).append(event);
    } catch (error) {
      throw toFileError(error, 'append to', handle.name.paths.file);
    }
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): readonly number[] {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('append to', handle.name.paths.file, () => handle.writing().appendAll(events));
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    this.#dispatches.assertOpen();
    return this.#listings.envelopes(taskDir);
  }

  listDispatches(options: ListDispatchesOptions = {}): DispatchPage {
    this.#dispatches.assertOpen();
    return this.#listings.page(options);
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    const name = this.#dispatches.name(taskDir, dispatchId);
    return withFile('read', name.paths.file, () => readDispatchEnvelope(this.#system.files, name));
  }

  getDispatchEvents(taskDir: string, dispatchId: string): CapturedEvent[] {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('read', handle.name.paths.file, () => handle.readAll());
  }

  getRecentEvents(taskDir: string, dispatchId: string, count: number): CapturedEvent[] {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('read', handle.name.paths.file, () => handle.readRecent(count));
  }

  readEvents(taskDir: string, dispatchId: string, options: ReadEventsOptions = {}): EventPage {
    if (options.skipDamaged === true) {
      const name = this.#dispatches.name(taskDir, dispatchId);
      return withFile('read', name.paths.file, () => this.#integrity.readWhole(name, options));
    }
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('read', handle.name.paths.file, () => handle.readPage(options));
  }

  putTask(taskDir: string, task: TaskRecord): void {
    const folder = this.#dispatches.taskFolder(taskDir);
    withFile('write', folder, () => {
      this.#system.files.makeFolder(folder);
      this.#index.putRecord(folder, task);
    });
    this.#watches.notify(taskDir);
  }

  findTask(taskDir: string): TaskRecord | null {
    const folder = this.#dispatches.taskFolder(taskDir);
    return withFile('read', folder, () => readTaskRecord(this.#system.files, folder));
  }

  listTasks(): TaskListing[] {
    this.#dispatches.assertOpen();
    return this.#listings.tasks();
  }

  searchEvents(query: string, options: SearchEventsOptions = {}): SearchHit[] {
    this.#dispatches.assertOpen();
    const { taskDir, dispatchId } = options;
    if (taskDir !== undefined && dispatchId !== undefined) this.#dispatches.name(taskDir, dispatchId);
    const place = { files: this.#system.files, root: this.#root, dispatches: this.#dispatches };
    return withFile('search', this.#root, () => searchEvents(place, query, options));
  }

  watch(scope: WatchScope, onChange: () => void): StopWatching {
    const { taskDir, dispatchId } = scope;
    if (taskDir !== undefined && dispatchId !== undefined) {
      const handle = this.#dispatches.get(taskDir, dispatchId);
      withFile('watch', handle.name.paths.file, () => handle.assertExists());
    } else if (taskDir === undefined) this.#dispatches.assertOpen();
    else this.#dispatches.taskFolder(taskDir);
    return this.#watches.add(scope, onChange);
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { paths } = handle.name;
    this.#assertPlace();
    withFile('delete', paths.file, () => handle.remove());
    this.#dispatches.close(taskDir, dispatchId);
    this.#index.refresh(paths.task, dispatchId);
    this.#watches.notify(taskDir, dispatchId);
  }

  verifyDispatch(taskDir: string, dispatchId: string): DispatchVerification {
    const name = this.#dispatches.name(taskDir, dispatchId);
    return withFile('verify', name.paths.file, () => this.#integrity.verify(name));
  }

  acceptLoss(taskDir: string, dispatchId: string, notice: CapturedEvent): DispatchVerification {
    const name = this.#dispatches.name(taskDir, dispatchId);
    const { file } = name.paths;
    this.#assertPlace();
    this.#dispatches.close(taskDir, dispatchId);
    const verification = withFile('repair', file, () => this.#integrity.acceptLoss(name, notice));
    this.#watches.notify(taskDir, dispatchId);
    return verification;
  }

  rewriteDispatch(taskDir: string, dispatchId: string, rewrite: DispatchRewrite): DispatchRewritten {
    const name = this.#dispatches.name(taskDir, dispatchId);
    const { file, task } = name.paths;
    this.#assertPlace();
    this.#dispatches.close(taskDir, dispatchId);
    const rewritten = withFile('rewrite', file, () => {
      const { remains } = this.#integrity.rewrite(name, rewrite);
      return { remains: [...remains, ...this.#refreshIndex(task, dispatchId)] };
    });
    this.#watches.notify(taskDir, dispatchId);
    return rewritten;
  }

  adoptDispatches(taskDir: string, dispatchId?: string): string[] {
    const folder = this.#dispatches.taskFolder(taskDir);
    const ids =
      dispatchId === undefined
        ? withFile('list', folder, () => listDispatchIds(this.#system.files, folder))
        : [dispatchId];
    return ids.filter((id) => {
      const name = this.#dispatches.name(taskDir, id);
      const isAdopted = withFile('adopt', name.paths.file, () => this.#integrity.adopt(name));
      if (!isAdopted) return false;
      this.#dispatches.close(taskDir, id);
      this.#index.refresh(name.paths.task, id);
      this.#watches.notify(taskDir, id);
      return true;
    });
  }

  removeRemains(): string[] {
    this.#dispatches.assertOpen();
    return withFile('clean', this.#root, () => {
      this.#remains.remove();
      this.#context.later.doAll();
      const old = this.#index.unwritten.map(
        (folder) =>
          `${join(folder, names.task)}, whose index can have old content: the next change of a dispatch replaces it.`,
      );
      return [...this.#remains.list({}), ...old];
    });
  }

  findRemains(scope: RemainsScope = {}): string[] {
    this.#dispatches.assertOpen();
    return withFile('list', this.#root, () => this.#remains.list(scope));
  }

  /** The index has parts of the envelope, too. @returns the file if it can still have the old ones */
  #refreshIndex(task: string, dispatchId: string): string[] {
    try {
      this.#index.refreshNow(task, dispatchId);
      return [];
    } catch (error) {
      const file = join(task, names.task);
      // The new content of the dispatch is in place: no error here says otherwise.
      if (storeErrors.is(error, 'STORE_CORRUPT'))
        return [`${file}, which is damaged: repair its record, or delete the file.`];
      if (isSystemError(error))
        return [
          `${file}, which could not be written (${error.message}): the next change of a dispatch replaces it.`,
        ];
      if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
      this.#index.refresh(task, dispatchId);
      return [`${file}, which another process was writing: the next change of a dispatch replaces it.`];
    }
  }

  getRepairs(): StoreRepair[] {
    this.#dispatches.assertOpen();
    return [...this.#repairs];
  }

  close(): void {
    if (this.#dispatches.isClosed) return;
    const steps = [
      () => this.#watches.close(),
      ...this.#dispatches.closing(),
      () => this.#locks.releaseAll(),
    ];
    withFile('close', this.#root, () => runAll(steps));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

/** Runs all steps, including after one that fails. @throws the first error */
function runAll(steps: Iterable<() => void>): void {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** The capabilities of a store that is opened without options. Another `durability` changes only that field. */
export const jsonFileStoreCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: 'scan',
  watch: true,
  deleteDispatch: true,
  rewrite: true,
  integrity: 'checksum',
};

export interface JsonFileStoreOptions {
  /** The folder of the tasks. The first write creates it if it does not exist. */
  readonly root: string;
  /**
   * The failures that an appended event survives. `process` (the default): the end of the process. `disk`: also the loss of
   * power; each append then waits for the disk.
   */
  readonly durability?: 'process' | 'disk';
  /**
   * Who may read new files and folders. `private` (the default): only the owner. `shared`: whom the umask of the process
   * allows. Files and folders that exist keep their permissions.
   */
  readonly access?: Access;
  /**
   * Milliseconds, at least 100; 15,000 by default. A claim whose owner is not proven to have exited can be taken over after it was
   * not renewed for so long. An owner renews its claims in each third of it.
   */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a folder. Reading creates nothing. A test can replace `system`.
 * @throws STORE_UNAVAILABLE if the root is not a readable folder
 */
export function openJsonFileStore(
  { root, durability = 'process', access = 'private', leaseMs = defaultLeaseMs }: JsonFileStoreOptions,
  system: StoreSystem = systemFor(access),
): JsonFileDispatchStore {
  const { files } = system;
  const realRoot = withFile('open', root, () => {
    orMissing(() => files.list(root), ['ENOENT']);
    return realPath(resolve(root), files.realPath);
  });
  return new JsonFileDispatchStore(realRoot, { ...jsonFileStoreCapabilities, durability }, leaseMs, system);
}
