import type { DispatchEnvelope } from '@hansard/events';
import { assertDispatchId, storeErrors } from '@hansard/provider';
import { chainStart, dispatchExists, isSystemError, storeClosed, withFile } from '@hansard/store-kit';
import { closings, dispatchPaths } from '../disk-format.ts';
import { fitHead, nothingAcknowledged } from '../head/head-codec.ts';
import { HeadKeeper } from '../head/head-keeper.ts';
import { createFile, OpenFile, syncFolders } from '../lines/open-file.ts';
import { currentMoment } from '../locks/moment.ts';
import { resolveTaskFolder } from '../task-folder.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { DispatchName } from './dispatch-file.ts';
import { DispatchHandle } from './dispatch-handle.ts';
import { DispatchWriter } from './dispatch-writer.ts';

const mostHandles = 64;

/**
 * Finds the dispatches of one opening of a store, and keeps the ones that it used last open. To open one more than 64, it closes the
 * least recently used one.
 */
export class OpenDispatches {
  readonly #context: DispatchContext;
  /** By task and id, in the order of their last use. */
  readonly #handles = new Map<string, DispatchHandle>();
  /** The handle that was used last: nearly every call is for the dispatch of the call before. */
  #latest: DispatchHandle | null = null;
  #isClosed = false;

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** Whether `close` was called. Then every other method throws STORE_CLOSED. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws STORE_CLOSED */
  assertOpen(): void {
    if (this.#isClosed) throw storeClosed(this.#context.root);
  }

  /** The folder of a task, whether it exists or not. @throws STORE_INVALID_PATH */
  taskFolder(taskDir: string): string {
    this.assertOpen();
    return withFile('look up', this.#context.root, () =>
      resolveTaskFolder(this.#context.files, this.#context.root, taskDir),
    );
  }

  /** The places of a dispatch, whether it exists or not. @throws STORE_INVALID_PATH */
  name(taskDir: string, dispatchId: string): DispatchName {
    assertDispatchId(dispatchId);
    return { taskDir, dispatchId, paths: dispatchPaths(this.taskFolder(taskDir), dispatchId) };
  }

  /** The same for several dispatches of a task. @throws STORE_INVALID_PATH */
  names(taskDir: string, dispatchIds: readonly string[]): DispatchName[] {
    const folder = this.taskFolder(taskDir);
    return dispatchIds.map((dispatchId) => {
      assertDispatchId(dispatchId);
      return { taskDir, dispatchId, paths: dispatchPaths(folder, dispatchId) };
    });
  }

  /** The places of a dispatch that is open already, or of any other. @throws STORE_INVALID_PATH */
  openName(taskDir: string, dispatchId: string): DispatchName {
    this.assertOpen();
    return this.#find(taskDir, dispatchId)?.name ?? this.name(taskDir, dispatchId);
  }

  /** Creates a dispatch, and keeps a `running` one open. @throws STORE_DISPATCH_EXISTS */
  create(name: DispatchName, envelope: DispatchEnvelope): void {
    const { taskDir, dispatchId, paths } = name;
    // One of a dispatch that another opening has taken over, and then deleted.
    this.#find(taskDir, dispatchId)?.dropIfLost();
    let writer: DispatchWriter | null;
    try {
      writer = createDispatchFile(this.#context, name, envelope);
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
      // As a rule the folder exists.
      this.#context.files.makeFolder(paths.folder);
      writer = createDispatchFile(this.#context, name, envelope);
    }
    // If another program has removed a dispatch of this id.
    this.close(taskDir, dispatchId);
    if (writer !== null) this.#add(DispatchHandle.ofNew(this.#context, name, writer));
  }

  /** @throws STORE_DISPATCH_NOT_FOUND, STORE_CORRUPT, STORE_INVALID_PATH */
  get(taskDir: string, dispatchId: string): DispatchHandle {
    const latest = this.#latest;
    if (latest !== null && latest.name.dispatchId === dispatchId && latest.name.taskDir === taskDir)
      return latest;
    this.assertOpen();
    return this.#find(taskDir, dispatchId) ?? this.#open(this.name(taskDir, dispatchId));
  }

  /** Releases a claim, including when the head cannot be written. If the file is missing, there is no head to write. */
  release(name: DispatchName): void {
    try {
      const handle = this.#find(name.taskDir, name.dispatchId) ?? this.#open(name);
      handle.finish();
    } catch (error) {
      // The dispatch was deleted, or another opening has taken it over: there is nothing to finish.
      if (!storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND') && !storeErrors.is(error, 'STORE_LOCKED'))
        throw error;
    } finally {
      this.#context.claims.release(name);
    }
  }

  /** Closes the files of a dispatch. A claim is kept. */
  close(taskDir: string, dispatchId: string): void {
    const handle = this.#find(taskDir, dispatchId);
    if (handle !== null) this.#close(handle);
  }

  /** The steps that end the opening. Each can fail on its own. */
  *closing(): Generator<() => void> {
    for (const name of this.#context.claims.all()) yield () => this.release(name);
    yield () => this.#context.later.doAll();
    yield () => {
      for (const handle of this.#handles.values()) this.#close(handle);
    };
    yield () => {
      this.#isClosed = true;
      this.#latest = null;
    };
  }

  #open(name: DispatchName): DispatchHandle {
    const { file } = name.paths;
    return this.#add(withFile('open', file, () => DispatchHandle.open(this.#context, name)));
  }

  /** Null: the dispatch is not open. */
  #find(taskDir: string, dispatchId: string): DispatchHandle | null {
    const key = keyOf(taskDir, dispatchId);
    const handle = this.#handles.get(key);
    if (handle === undefined) return null;
    this.#handles.delete(key);
    return this.#use(key, handle);
  }

  #add(handle: DispatchHandle): DispatchHandle {
    const [oldest] = this.#handles.size >= mostHandles ? this.#handles.values() : [];
    if (oldest !== undefined) this.#close(oldest);
    return this.#use(keyOf(handle.name.taskDir, handle.name.dispatchId), handle);
  }

  #use(key: string, handle: DispatchHandle): DispatchHandle {
    this.#handles.set(key, handle);
    this.#latest = handle;
    return handle;
  }

  #close(handle: DispatchHandle): void {
    this.#handles.delete(keyOf(handle.name.taskDir, handle.name.dispatchId));
    if (this.#latest === handle) this.#latest = null;
    handle.close();
  }
}

/** Valid names contain no line feed, so different dispatches have different keys. */
function keyOf(taskDir: string, dispatchId: string): string {
  return `${taskDir}\n${dispatchId}`;
}

/**
 * Creates a dispatch without events, complete or not at all. A `running` one is claimed, and its writer is returned; null for
 * any other. The folder must exist.
 * @throws STORE_DISPATCH_EXISTS
 */
function createDispatchFile(
  context: DispatchContext,
  name: DispatchName,
  envelope: DispatchEnvelope,
): DispatchWriter | null {
  const { root, files, claims, clock, sync } = context;
  const { taskDir, dispatchId, paths } = name;
  const checkedAt = currentMoment(clock);
  const claim = claims.takeNew(name);
  const { epoch, lost } = claim.lock;
  let isClaimed = false;
  try {
    const record = { taskDir, dispatchId, revision: 1, epoch, acknowledged: nothingAcknowledged, envelope };
    const { slot, bytes: head } = fitHead(record);
    const content = Buffer.concat([head, Buffer.from(closings.growing)]);
    const file = createFile(files, paths.file, paths.temporary(epoch), content, sync);
    if (file === null) throw dispatchExists(taskDir, dispatchId);
    let open: OpenFile;
    try {
      if (lost.length > 0) claim.removeLost();
      if (sync) syncFolders(files, paths.folder, root);
      if (envelope.status !== 'running') return null;
      // Again, because who watches the folder receives the name by which a writer opened the file.
      open = OpenFile.open(files, paths.file, 'write');
      isClaimed = true;
    } finally {
      file.close();
    }
    const start = head.length;
    return new DispatchWriter(context, claim, {
      file: { open, inode: file.inode, start, seed: chainStart(taskDir, dispatchId) },
      point: { end: start, count: 0, crc: 0, idOrder: 'growing', greatestId: '' },
      // A copy, because the caller may change its own.
      head: HeadKeeper.ofNew({ ...record, envelope: structuredClone(envelope) }, slot, checkedAt.monotonic),
      checkedAt,
    });
  } finally {
    if (!isClaimed) claims.release(name);
  }
}
