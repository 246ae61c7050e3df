import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  assertDispatchId,
  assertTaskDir,
  compareByStart,
  type DispatchStoreProvider,
  type StoreCapabilities,
  StoreError,
  type StoreRepair,
  type TaskRecord,
} from '@hansard/provider';
import {
  appendToLog,
  createDispatchLog,
  type DispatchLog,
  readDispatchLog,
  writeEnvelope,
} from './dispatch-log.ts';
import { unavailable } from './unavailable.ts';

const defaultLimit = 1_000;

export const exampleStoreCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'process',
  search: false,
  watch: false,
  deleteDispatch: false,
};

/** Opens the store in a folder. Simple on purpose: a dispatch that was touched stays in memory until the store is closed. */
export function openExampleStore({ root }: { readonly root: string }): DispatchStoreProvider {
  const logs = new Map<string, DispatchLog>();
  /** The files of the claimed dispatches. One process has the store, so that nobody else can have claimed them. */
  const claimed = new Set<string>();
  const repairs: StoreRepair[] = [];
  let closed = false;

  const taskFolder = (taskDir: string): string => {
    if (closed) throw new StoreError('STORE_CLOSED', 'The store is closed.');
    assertTaskDir(taskDir);
    return join(root, taskDir);
  };
  const logFile = (taskDir: string, dispatchId: string): string => {
    const folder = taskFolder(taskDir);
    assertDispatchId(dispatchId);
    return join(folder, 'dispatches', `${dispatchId}.log`);
  };
  const findLog = (taskDir: string, dispatchId: string): DispatchLog | null => {
    const file = logFile(taskDir, dispatchId);
    const open = logs.get(file);
    if (open !== undefined) return open;
    const log = readDispatchLog(file);
    if (log === null) return null;
    logs.set(file, log);
    if (log.repaired !== null) repairs.push({ taskDir, dispatchId, ...log.repaired });
    return log;
  };
  const getLog = (taskDir: string, dispatchId: string): DispatchLog => {
    const log = findLog(taskDir, dispatchId);
    if (log !== null) return log;
    throw new StoreError('STORE_DISPATCH_NOT_FOUND', `${taskDir} has no dispatch ${dispatchId}.`);
  };
  const getClaimedLog = (taskDir: string, dispatchId: string): DispatchLog => {
    const log = getLog(taskDir, dispatchId);
    if (claimed.has(log.file)) return log;
    throw new StoreError('STORE_LOCKED', `${dispatchId} of ${taskDir} is not claimed. Claim it first.`);
  };
  const readTask = (taskDir: string): TaskRecord | null => {
    const file = join(taskFolder(taskDir), 'task.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  };

  return {
    contract: 1,
    capabilities: exampleStoreCapabilities,

    createDispatch(taskDir, envelope) {
      const file = logFile(taskDir, envelope.dispatchId);
      makeFolder(dirname(file));
      logs.set(file, createDispatchLog(file, envelope));
      if (envelope.status === 'running') claimed.add(file);
    },
    claimDispatch(taskDir, dispatchId) {
      const log = getLog(taskDir, dispatchId);
      claimed.add(log.file);
      return { envelope: structuredClone(log.envelope) };
    },
    releaseDispatch(taskDir, dispatchId) {
      claimed.delete(logFile(taskDir, dispatchId));
    },
    updateDispatch(taskDir, dispatchId, updates) {
      const log = getClaimedLog(taskDir, dispatchId);
      writeEnvelope(log, { ...log.envelope, ...updates });
      return structuredClone(log.envelope);
    },
    appendEvent: (taskDir, dispatchId, event) => appendToLog(getClaimedLog(taskDir, dispatchId), [event]),
    appendEvents: (taskDir, dispatchId, events) => appendToLog(getClaimedLog(taskDir, dispatchId), events),

    getDispatchEnvelopes(taskDir) {
      const folder = join(taskFolder(taskDir), 'dispatches');
      if (!existsSync(folder)) return [];
      const ids = readdirSync(folder)
        .filter((name) => name.endsWith('.log'))
        .map((name) => name.slice(0, -'.log'.length));
      const envelopes = ids.map((id) => structuredClone(getLog(taskDir, id).envelope));
      return envelopes.sort(compareByStart);
    },
    getDispatchEnvelope(taskDir, dispatchId) {
      return structuredClone(findLog(taskDir, dispatchId)?.envelope ?? null);
    },
    getDispatchEvents: (taskDir, dispatchId) => structuredClone(getLog(taskDir, dispatchId).events),
    getRecentEvents(taskDir, dispatchId, count) {
      const { events } = getLog(taskDir, dispatchId);
      return structuredClone(events.slice(Math.max(events.length - count, 0)));
    },
    readEvents(taskDir, dispatchId, { after = -1, limit = defaultLimit, last } = {}) {
      const { events } = getLog(taskDir, dispatchId);
      if (last !== undefined) {
        const first = Math.max(events.length - last, 0);
        return { events: structuredClone(events.slice(first)), first, next: events.length - 1 };
      }
      if (after >= events.length) {
        throw new StoreError(
          'STORE_INVALID_CURSOR',
          `${dispatchId} has ${events.length} events; there is no position ${after}.`,
        );
      }
      const page = structuredClone(events.slice(after + 1, after + 1 + limit));
      return { events: page, first: after + 1, next: after + page.length };
    },

    putTask(taskDir, task) {
      const folder = taskFolder(taskDir);
      makeFolder(folder);
      const temporary = join(folder, `task.json.${process.pid}.tmp`);
      writeFileSync(temporary, JSON.stringify(task, null, 2));
      renameSync(temporary, join(folder, 'task.json'));
    },
    getTask: readTask,
    listTasks() {
      if (closed) throw new StoreError('STORE_CLOSED', 'The store is closed.');
      const folders = globSync(['**/task.json', '**/dispatches/*.log'], { cwd: root }).map((path) =>
        path.endsWith('.log') ? dirname(dirname(path)) : dirname(path),
      );
      return [...new Set(folders)].sort().map((taskDir) => ({ taskDir, task: readTask(taskDir) }));
    },
    getRepairs() {
      if (closed) throw new StoreError('STORE_CLOSED', 'The store is closed.');
      return structuredClone(repairs);
    },
    close() {
      closed = true;
      logs.clear();
      claimed.clear();
    },
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unavailable(folder, error);
  }
}
