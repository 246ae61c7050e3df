import {
  closeSync,
  type Dirent,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  utimesSync,
  watch,
  writeSync,
} from 'node:fs';
import { isSystemError } from '@hansard/store-kit';

export type FileStats = Pick<
  Stats,
  | 'ino'
  | 'size'
  | 'nlink'
  | 'mtimeMs'
  | 'ctimeMs'
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
  | 'isFIFO'
  | 'isSocket'
>;

/**
 * The operations of the file system that this store uses: all of them, each one call of the system. A test or a simulator
 * can replace them. A refusal is thrown as `node:fs` throws it, with `code`, `syscall` and `path`.
 */
export interface Files {
  /** Opens a file; `flags` are those of `node:fs` constants. */
  open(path: string, flags: number): number;
  close(fd: number): void;
  /** Reads up to `length` bytes. @returns the number of bytes, 0 at the end of the file */
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Writes up to `length` bytes. @returns the number of bytes, which can be less */
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  truncate(fd: number, length: number): void;
  /** Waits until the content and the metadata of a file, or the names in a folder, are on the disk. */
  sync(fd: number): void;
  /** Waits until the content of a file is on the disk, with the metadata that a read needs. */
  syncData(fd: number): void;
  statOpen(fd: number): FileStats;
  /** Null if nothing has the path. Follows symbolic links. */
  stat(path: string): FileStats | null;
  /** Null if nothing has the path. Describes a symbolic link itself. */
  lstat(path: string): FileStats | null;
  /** Sets the time of the last change, in milliseconds since 1970. */
  touch(path: string, milliseconds: number): void;
  /** Gives a file another name, over a file that has it, in one step. ENOENT if the folder of the new name is missing. */
  rename(from: string, to: string): void;
  /** Gives a file a second name. EEXIST if the name is taken. */
  link(from: string, to: string): void;
  /** Removes a name of a file. @returns false if nothing has the name */
  remove(path: string): boolean;
  /** Creates a folder and those on the way to it, unless they exist. */
  makeFolder(path: string): void;
  /** Removes an empty folder. ENOTEMPTY if it has a name in it. @returns false if nothing has the path */
  removeFolder(path: string): boolean;
  list(folder: string): Dirent[];
  /** The path without symbolic links. */
  realPath(path: string): string;
  /** Calls `onChange` after changes in a folder, with the changed name if it is known. @returns a function that ends the calls */
  watch(folder: string, onChange: (name: string | null) => void): () => void;
}

/** Who may read and write new files and folders: only the owner, or whom the umask of the process allows. */
export type Access = 'private' | 'shared';

const modes = { private: { file: 0o600, folder: 0o700 }, shared: { file: 0o666, folder: 0o777 } } as const;

/** The file system of this machine. */
export function filesFor(access: Access): Files {
  const { file: fileMode, folder: folderMode } = modes[access];
  return {
    open: (path, flags) => openSync(path, flags, fileMode),
    close: (fd) => closeSync(fd),
    read: (fd, buffer, offset, length, position) => readSync(fd, buffer, offset, length, position),
    write: (fd, buffer, offset, length, position) => writeSync(fd, buffer, offset, length, position),
    truncate: (fd, length) => ftruncateSync(fd, length),
    sync: (fd) => fsyncSync(fd),
    syncData: (fd) => fdatasyncSync(fd),
    statOpen: (fd) => fstatSync(fd),
    stat: (path) => statSync(path, { throwIfNoEntry: false }) ?? null,
    lstat: (path) => lstatSync(path, { throwIfNoEntry: false }) ?? null,
    touch: (path, milliseconds) => utimesSync(path, milliseconds / 1_000, milliseconds / 1_000),
    rename: (from, to) => renameSync(from, to),
    link: (from, to) => linkSync(from, to),
    remove: (path) => isRemoved(() => unlinkSync(path)),
    makeFolder: (path) => void mkdirSync(path, { recursive: true, mode: folderMode }),
    removeFolder: (path) => isRemoved(() => rmdirSync(path)),
    list: (folder) => readdirSync(folder, { withFileTypes: true }),
    realPath: (path) => realpathSync.native(path),
    watch(folder, onChange) {
      const watcher = watch(folder, (_, name) => onChange(name));
      // The listener then reads the store, and receives the error there.
      watcher.on('error', () => onChange(null));
      return () => watcher.close();
    },
  };
}

/** False if there was nothing to remove. */
function isRemoved(remove: () => void): boolean {
  try {
    remove();
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}

export const systemFiles: Files = filesFor('private');
