import { join } from 'node:path';
import type { CapturedEvent, DispatchEnvelope, EnvelopeUpdates, TaskRecord } from '@hansard/events';
import type {
  ClaimState,
  DispatchClaim,
  DispatchListing,
  DispatchStoreProvider,
  DispatchVerification,
  EventPage,
  ReadEventsOptions,
  StopWatching,
  StoreCapabilities,
  StoreRepair,
  TaskListing,
} from '@hansard/provider';
import { toFileError, withFile } from '@hansard/store-kit';
import { names } from './disk-format.ts';
import { createDispatchFile } from './dispatch/create-dispatch-file.ts';
import { DispatchClaims } from './dispatch/dispatch-claims.ts';
import type { DispatchContext } from './dispatch/dispatch-context.ts';
import { readDispatchEnvelope } from './dispatch/dispatch-file.ts';
import { DispatchWatchers } from './dispatch/dispatch-watchers.ts';
import { listDispatches } from './dispatch/list-dispatches.ts';
import { OpenDispatches } from './dispatch/open-dispatches.ts';
import { DispatchIntegrity } from './integrity/dispatch-integrity.ts';
import { LaterWork } from './later-work.ts';
import { WriterLocks } from './locks/writer-locks.ts';
import type { StoreSystem } from './store-system.ts';
import { listTask, readTaskRecord } from './task/task-file.ts';
import { TaskIndex } from './task/task-index.ts';
import { walkTaskDirs } from './task-folder.ts';

/** Keeps each dispatch in one JSON file (see disk-format.ts). Every method is synchronous. Created by `openJsonFileStore`. */
export class JsonFileStore implements DispatchStoreProvider {
  readonly contract = 1;
  readonly capabilities: StoreCapabilities;
  readonly #root: string;
  readonly #system: StoreSystem;
  readonly #locks: WriterLocks;
  readonly #context: DispatchContext;
  readonly #index: TaskIndex;
  readonly #dispatches: OpenDispatches;
  readonly #watchers: DispatchWatchers;
  readonly #repairs: StoreRepair[] = [];
  readonly #integrity: DispatchIntegrity;

  constructor(root: string, capabilities: StoreCapabilities, leaseMs: number, system: StoreSystem) {
    const sync = capabilities.durability === 'disk';
    this.capabilities = capabilities;
    this.#root = root;
    this.#system = system;
    this.#watchers = new DispatchWatchers(system.files);
    this.#locks = new WriterLocks(system, join(root, names.writers), leaseMs);
    const later = new LaterWork(system.clock);
    this.#context = {
      ...system,
      claims: new DispatchClaims(system, this.#locks),
      sync,
      onRepair: (repair) => this.#repairs.push(repair),
      later,
    };
    this.#dispatches = new OpenDispatches(this.#context, root);
    this.#integrity = new DispatchIntegrity(this.#context);
    this.#index = new TaskIndex(system, this.#locks, later, sync);
  }

  createDispatch(taskDir: string, envelope: DispatchEnvelope): void {
    const { dispatchId } = envelope;
    const name = this.#dispatches.name(taskDir, dispatchId);
    const { paths } = name;
    withFile('create', paths.file, () => {
      this.#system.files.makeFolder(paths.folder);
      createDispatchFile(this.#context, this.#root, name, envelope);
    });
    this.#index.refresh(paths.task, dispatchId);
  }

  claimDispatch(taskDir: string, dispatchId: string): DispatchClaim {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('claim', handle.name.paths.file, () => handle.claim());
  }

  releaseDispatch(taskDir: string, dispatchId: string): void {
    const name = this.#dispatches.name(taskDir, dispatchId);
    if (this.#context.claims.has(name))
      withFile('release', name.paths.file, () => this.#dispatches.release(name));
  }

  getClaim(taskDir: string, dispatchId: string): ClaimState | null {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    return withFile('read', handle.name.paths.lock, () => {
      handle.assertExists();
      return this.#context.claims.stateOf(handle.name);
    });
  }

  breakClaim(taskDir: string, dispatchId: string): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    withFile('release', handle.name.paths.lock, () => {
      handle.assertExists();
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
    this.#watchers.notify(paths.file);
    return envelope;
  }

  appendEvent(taskDir: string, dispatchId: string, event: CapturedEvent): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    try {
      if (handle.append(event)) this.#watchers.notify(handle.name.paths.file);
    } catch (error) {
      throw toFileError(error, 'append to', handle.name.paths.file);
    }
  }

  appendEvents(taskDir: string, dispatchId: string, events: readonly CapturedEvent[]): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { file } = handle.name.paths;
    withFile('append to', file, () => {
      if (handle.appendAll(events)) this.#watchers.notify(file);
    });
  }

  getDispatchEnvelopes(taskDir: string): DispatchEnvelope[] {
    return this.listDispatches(taskDir).map(({ envelope, error }) => {
      if (envelope === null) throw error;
      return envelope;
    });
  }

  listDispatches(taskDir: string): DispatchListing[] {
    return listDispatches(this.#system.files, this.#dispatches.taskFolder(taskDir));
  }

  getDispatchEnvelope(taskDir: string, dispatchId: string): DispatchEnvelope | null {
    const { file } = this.#dispatches.name(taskDir, dispatchId).paths;
    return withFile('read', file, () => readDispatchEnvelope(this.#system.files, file));
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
  }

  getTask(taskDir: string): TaskRecord | null {
    const folder = this.#dispatches.taskFolder(taskDir);
    return withFile('read', folder, () => readTaskRecord(this.#system.files, folder));
  }

  listTasks(): TaskListing[] {
    this.#dispatches.assertOpen();
    const { files } = this.#system;
    return withFile('list', this.#root, () => [...walkTaskDirs(files, this.#root)])
      .sort()
      .map((taskDir) => listTask(files, taskDir, join(this.#root, taskDir)))
      .filter((listing) => listing !== null);
  }

  watchEvents(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { paths } = handle.name;
    return withFile('watch', paths.folder, () => {
      handle.assertExists();
      return this.#watchers.add(paths, onChange);
    });
  }

  deleteDispatch(taskDir: string, dispatchId: string): void {
    const handle = this.#dispatches.get(taskDir, dispatchId);
    const { paths } = handle.name;
    withFile('delete', paths.file, () => handle.remove());
    this.#dispatches.close(taskDir, dispatchId);
    this.#index.refresh(paths.task, dispatchId);
    this.#watchers.notify(paths.file);
  }

  verifyDispatch(taskDir: string, dispatchId: string): DispatchVerification {
    const name = this.#dispatches.name(taskDir, dispatchId);
    return withFile('verify', name.paths.file, () => this.#integrity.verify(name));
  }

  acceptLoss(taskDir: string, dispatchId: string, notice: CapturedEvent): DispatchVerification {
    const name = this.#dispatches.name(taskDir, dispatchId);
    const { file } = name.paths;
    this.#dispatches.close(taskDir, dispatchId);
    const verification = withFile('repair', file, () => this.#integrity.acceptLoss(name, notice));
    this.#watchers.notify(file);
    return verification;
  }

  getRepairs(): StoreRepair[] {
    this.#dispatches.assertOpen();
    return [...this.#repairs];
  }

  close(): void {
    if (this.#dispatches.isClosed) return;
    withFile('close', this.#root, () => {
      const errors: unknown[] = [];
      const ends = [() => this.#watchers.close(), ...this.#dispatches.closing()];
      for (const step of [...ends, () => this.#locks.releaseAll()]) {
        try {
          step();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}
