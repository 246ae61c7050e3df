import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import type { CommandCall } from './command-calls.ts';
import { type RecordedStore, task } from './recorded-store.ts';

/** Puts something in the place of a file, which may exist for {@link unreadable} only. @returns false if this machine cannot */
type Replace = (path: string) => boolean | Promise<boolean>;

export const unreadable = 'a file that may not be read';

/** What is put in the place of a file. */
export const kinds: Readonly<Record<string, Replace>> = {
  'a named pipe (FIFO)': (path) => spawnSync('mkfifo', [path]).status === 0,
  'a socket': async (path) => {
    const listening = join(mkdtempSync(join(tmpdir(), 'hs-')), 's');
    const server = createServer().listen(listening);
    await new Promise((resolve) => server.once('listening', resolve));
    renameSync(listening, path);
    await new Promise((resolve) => server.close(resolve));
    rmSync(dirname(listening), { recursive: true });
    return true;
  },
  'a device without an end': (path) => spawnSync('mknod', [path, 'c', '1', '5']).status === 0,
  'a symbolic link to a device': (path) => symlinkSync('/dev/zero', path) === undefined,
  'a folder': (path) => mkdirSync(path) === undefined,
  'a file of another program': (path) => writeFileSync(path, 'another program') === undefined,
  [unreadable]: (path) => {
    chmodSync(path, 0);
    if (process.getuid?.() === 0) chownSync(path, 0, 0);
    return true;
  },
};
export interface Place {
  readonly store: 'JSON-file' | 'SQLite';
  /** Its path in the folder of the store. */
  path(recorded: RecordedStore): string | Promise<string>;
  /** Whether the call may fail. */
  mayFail(call: CommandCall): boolean;
  /** Whether the call may answer otherwise than with the file that belongs there, although it does not fail. */
  mayDiffer?(call: CommandCall): boolean;
  /** Whether no command needs the file, so that none has to report it. */
  readonly isUnneeded?: true;
}

const dispatches = `${task.replace('/', '/tasks/')}/dispatches`;
const always = () => true;

/** The files of a store. */
export const places: Readonly<Record<string, Place>> = {
  'the latest dispatch': {
    store: 'JSON-file',
    path: ({ latest }) => `${dispatches}/${latest.dispatchId}.json`,
    // A listing of tasks reads every session of each.
    mayFail: ({ args, isOfSibling }) => !isOfSibling || args.includes('--tasks'),
  },
  'the lock of the latest dispatch': {
    store: 'JSON-file',
    path: nextLock,
    mayFail: ({ isOfSibling, isWriting }) => !isOfSibling && isWriting,
  },
  'task.json': {
    store: 'JSON-file',
    path: () => join(dispatches, '../task.json'),
    mayFail: ({ args }) => ['secrets', 'task', 'store'].includes(args[0] ?? '') || args.includes('--tasks'),
    // An export names the task. It reports that it does not have the name.
    mayDiffer: ({ args }) => args[0] === 'export',
  },
  'the lock of task.json': {
    store: 'JSON-file',
    path: () => join(dispatches, '../.task.lock.1'),
    // A scan that leaves a place out is incomplete, and says so.
    mayFail: ({ args }) => args[0] === 'secrets',
    mayDiffer: ({ args }) => args[0] === 'store',
    isUnneeded: true,
  },
  'the database': { store: 'SQLite', path: () => 'hansard.sqlite', mayFail: always },
  'the log of the database': { store: 'SQLite', path: () => 'hansard.sqlite-wal', mayFail: always },
  'the index of the log': { store: 'SQLite', path: () => 'hansard.sqlite-shm', mayFail: always },
  'the acknowledged lengths': { store: 'SQLite', path: () => 'hansard.sqlite-lengths', mayFail: always },
  'the rollback journal': { store: 'SQLite', path: () => 'hansard.sqlite-journal', mayFail: always },
};

/** The lock that the next claim of the latest dispatch creates. */
async function nextLock({ line, latest: { dispatchId } }: RecordedStore): Promise<string> {
  const root = join(line.cwd, '.projects');
  await using store = openDispatchStore(openJsonFileStore({ root }));
  await using _ = await store.openDispatch(task.replace('/', '/tasks/'), dispatchId, { write: true });
  const [lock = ''] = globSync(`${dispatches}/${dispatchId}.lock.*`, { cwd: root });
  return lock.replace(/\d+$/, (number) => String(Number(number) + 1));
}
