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
  compareByStart,
  type DispatchListing,
  type DispatchStoreProvider,
  type StoreCapabilities,
  type StoreRepair,
  storeErrors,
  type TaskListing,
  type TaskRecord,
} from '@hansard/provider';
import {
  assertDispatchPath,
  dispatchNotClaimed,
  dispatchNotFound,
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

/** Opens the store in a folder. It is simple: a dispatch that was used stays in memory until the store is closed. */
export function openExampleStore(options: { readonly root: string }): DispatchStoreProvider {
  const root = realPath(resolve(options.root));
  const logs = new Map<string, DispatchLog>();
  /** The files of the claimed dispatches. One process has the store, so no other opening can have claimed them. */
  const claimed = new Set<string>();
  const repairs: StoreRepair[] = [];
  let closed = false;

  const assertOpen = () => {
    if (closed) throw storeClosed(root);
  };
  const taskFolder = (taskDir: string): string => {
    assertOpen();
    return withFile('look up', root, () => taskFolderBelow(root, taskDir, 'dispatches'));
  };
  const logFile = (taskDir: string, dispatchId: string): string => {
    assertOpen();
    assertDispatchPath(taskDir, dispatchId);
    return join(root, taskDir, 'dispatches', `${dispatchId}.log`);
  };
  const findLog = (taskDir: string, dispatchId: string): DispatchLog | null => {
    const file = logFile(taskDir, dispatchId);
    const open = logs.get(file);
    if (open !== undefined) return open;
    taskFolder(taskDir);
    const log = readDispatchLog(file);
    if (log === null) return null;
    logs.set(file, log);
    if (log.repaired !== null) repairs.push({ taskDir, dispatchId, ...log.repaired });
    return log;
  };
  const getLog = (taskDir: string, dispatchId: string): DispatchLog => {
    const log = findLog(taskDir, dispatchId);
    if (log !== null) return log;
    throw dispatchNotFound(taskDir, dispatchId);
  };
  const getClaimedLog = (taskDir: string, dispatchId: string): DispatchLog => {
    const log = getLog(taskDir, dispatchId);
    if (claimed.has(log.file)) return log;
    throw dispatchNotClaimed(taskDir, dispatchId);
  };
  const readTask = (taskDir: string): TaskRecord | null => {
    const file = join(taskFolder(taskDir), 'task.json');
    const text = withFile('read', file, () => orMissing(() => readFileSync(file, 'utf8')));
    if (text === null) return null;
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw storeErrors.error('STORE_CORRUPT', `${file} is not JSON. Restore it from a copy.`, {
        cause,
        details: { file },
      });
    }
  };
  const listTask = (taskDir: string): TaskListing => {
    try {
      return { taskDir, task: readTask(taskDir) };
    } catch (error) {
      if (storeErrors.is(error)) return { taskDir, task: null, error };
      throw error;
    }
  };

  const dispatchIds = (taskDir: string): string[] => {
    const folder = join(taskFolder(taskDir), 'dispatches');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => name.slice(0, -'.log'.length));
  };
  const taskDirs = (): string[] => {
    assertOpen();
    const folders = globSync(['**/task.json', '**/dispatches/*.log'], { cwd: root }).map((path) =>
      path.endsWith('.log') ? dirname(dirname(path)) : dirname(path),
    );
    return [...new Set(folders)].sort();
  };
  const listDispatch = (taskDir: string, dispatchId: string): DispatchListing => {
    try {
      const { envelope, events } = getLog(taskDir, dispatchId);
      const lastActiveAt = events.at(-1)?.timestamp ?? envelope.startedAt;
      return { taskDir, dispatchId, envelope: structuredClone(envelope), lastActiveAt };
    } catch (error) {
      if (storeErrors.is(error) && !error.isTransient)
        return { taskDir, dispatchId, envelope: null, lastActiveAt: null, error };
      throw error;
    }
  };

  return {
    contract: 1,
    capabilities: exampleStoreCapabilities,

    createDispatch(taskDir, envelope) {
      const file = logFile(taskDir, envelope.dispatchId);
      createFolder(join(taskFolder(taskDir), 'dispatches'));
      logs.set(file, createDispatchLog(file, taskDir, envelope));
      if (envelope.status === 'running') claimed.add(file);
    },
    claimDispatch(taskDir, dispatchId) {
      const log = getLog(taskDir, dispatchId);
      if (!claimed.has(log.file)) writeEpoch(log);
      claimed.add(log.file);
      return { envelope: structuredClone(log.envelope), epoch: log.epoch };
    },
    releaseDispatch(taskDir, dispatchId) {
      claimed.delete(logFile(taskDir, dispatchId));
    },
    updateDispatch(taskDir, dispatchId, updates) {
      const log = getClaimedLog(taskDir, dispatchId);
      writeEnvelope(log, { ...log.envelope, ...updates });
      return structuredClone(log.envelope);
    },
    appendEvent(taskDir, dispatchId, event) {
      const [position] = appendToLog(getClaimedLog(taskDir, dispatchId), [event]);
      return position as number;
    },
    appendEvents: (taskDir, dispatchId, events) => appendToLog(getClaimedLog(taskDir, dispatchId), events),

    getDispatchEnvelopes(taskDir) {
      const envelopes = dispatchIds(taskDir).map((id) => structuredClone(getLog(taskDir, id).envelope));
      return envelopes.sort(compareByStart);
    },
    listDispatches(options = {}) {
      const listed = options.taskDir === undefined ? taskDirs() : [options.taskDir];
      const entries = listed.flatMap((taskDir) =>
        dispatchIds(taskDir).map((id) => listDispatch(taskDir, id)),
      );
      return pageOfDispatches(entries, options);
    },
    getDispatchEnvelope(taskDir, dispatchId) {
      return structuredClone(findLog(taskDir, dispatchId)?.envelope ?? null);
    },
    getDispatchEvents: (taskDir, dispatchId) => structuredClone(getLog(taskDir, dispatchId).events),
    getRecentEvents(taskDir, dispatchId, count) {
      const { events } = getLog(taskDir, dispatchId);
      return structuredClone(events.slice(Math.max(events.length - count, 0)));
    },
    readEvents(taskDir, dispatchId, options) {
      const { events } = getLog(taskDir, dispatchId);
      const { first, end } = pageRange(events.length, options);
      return { events: structuredClone(events.slice(first, end)), first, next: end - 1 };
    },

    putTask(taskDir, task) {
      const folder = taskFolder(taskDir);
      createFolder(folder);
      const temporary = join(folder, `task.json.${process.pid}.tmp`);
      withFile('write', folder, () => {
        writeFileSync(temporary, JSON.stringify(task, null, 2));
        renameSync(temporary, join(folder, 'task.json'));
      });
    },
    getTask: readTask,
    listTasks: () => taskDirs().map(listTask),
    getRepairs() {
      assertOpen();
      return structuredClone(repairs);
    },
    close() {
      closed = true;
      logs.clear();
      claimed.clear();
    },
  };
}

function createFolder(folder: string): void {
  withFile('create', folder, () => mkdirSync(folder, { recursive: true }));
}
