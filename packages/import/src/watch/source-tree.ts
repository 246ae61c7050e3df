import { type Dirent, type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@hansard/events';

interface Folder {
  readonly inode: number;
  /** The state of each file, by its name: its size, and its time in milliseconds since 1970. */
  readonly files: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

/** The files below some folders, as the last look found them. No link to a folder is followed, so no circle is. */
export class SourceTree {
  readonly #folders = new Map<string, Folder>();
  /** What cannot be read, by folder, in words. What was known below it stays known. */
  readonly problems = new Map<string, string>();

  /** The state of a file; undefined if it is not there. */
  stateOf(path: string): string | undefined {
    const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
    return this.#folders.get(path.slice(0, at))?.files.get(path.slice(at + 1));
  }

  /** Whether a folder is there. */
  has(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** The inodes of all folders, by path. */
  folders(): ReadonlyMap<string, number> {
    return new Map([...this.#folders].map(([path, { inode }]) => [path, inode]));
  }

  *files(): Generator<readonly [path: string, state: string], undefined> {
    for (const [folder, { files }] of this.#folders)
      for (const [name, state] of files) yield [join(folder, name), state];
  }

  /** Looks at some folders, and below those that `isDeep` or that are new. Adds to `changed` each file that is new, changed or gone. */
  look(folders: Iterable<string>, isDeep: boolean, changed: Set<string>): void {
    for (const folder of folders) this.#look(folder, isDeep, changed);
  }

  /** Forgets a folder and what is below it. */
  forget(folder: string, changed: Set<string>): void {
    const known = this.#folders.get(folder);
    this.#folders.delete(folder);
    this.problems.delete(folder);
    for (const name of known?.files.keys() ?? []) changed.add(join(folder, name));
    for (const below of known?.folders ?? []) this.forget(join(folder, below), changed);
  }

  #look(folder: string, isDeep: boolean, changed: Set<string>): void {
    const known = this.#folders.get(folder);
    let entries: Dirent[];
    let inode: number;
    try {
      inode = statSync(folder).ino;
      entries = readdirSync(folder, { withFileTypes: true });
      this.problems.delete(folder);
    } catch (error) {
      if (isMissing(error)) this.forget(folder, changed);
      else this.problems.set(folder, messageOf(error));
      return;
    }
    const files = new Map<string, string>();
    const folders: string[] = [];
    for (const entry of entries) {
      if (entry.isDirectory()) folders.push(entry.name);
      else if (entry.isFile() || entry.isSymbolicLink()) {
        const state = stateAt(join(folder, entry.name));
        if (state !== null) files.set(entry.name, state);
      }
    }
    for (const [name, state] of files) if (known?.files.get(name) !== state) changed.add(join(folder, name));
    for (const name of known?.files.keys() ?? []) if (!files.has(name)) changed.add(join(folder, name));
    this.#folders.set(folder, { inode, files, folders });
    for (const name of known?.folders ?? [])
      if (!folders.includes(name)) this.forget(join(folder, name), changed);
    for (const name of folders) {
      const path = join(folder, name);
      if (isDeep || !this.#folders.has(path)) this.#look(path, isDeep, changed);
    }
  }
}

/** The state of a regular file, also behind a link. Null: it is none, or it is gone. */
function stateAt(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isFile() ? `${stats.size} ${stats.mtimeMs}` : null;
  } catch {
    // A link in a circle or without a target leads to nothing. Its import would say so.
    return null;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Whether the system itself watches what is below a folder. Elsewhere each folder needs a watch; Node would add one for each file, too. */
const isRecursive = process.platform === 'darwin' || process.platform === 'win32';

/** Hears of changes in folders. Some folders may lack a watch: `problem` says why, and a caller looks for itself. */
export class FolderEvents {
  readonly #watches = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  readonly #onChange: (folder: string) => void;
  readonly #most: number;
  /** Why a folder has no watch, such as ENOSPC. Null: all have one. */
  problem: string | null = null;

  /** `onChange` gets a folder in which, or below which, something has changed. `most`: how many watches it may have. */
  constructor(onChange: (folder: string) => void, most = Number.POSITIVE_INFINITY) {
    this.#onChange = onChange;
    this.#most = most;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** Watches these folders, by path and inode, and no others. Returns those that it did not watch before: they may have changed meanwhile. */
  set(folders: ReadonlyMap<string, number>, roots: ReadonlySet<string>): string[] {
    for (const [path, { inode }] of this.#watches) if (folders.get(path) !== inode) this.#end(path);
    this.problem = null;
    const begun: string[] = [];
    for (const [path, inode] of folders) {
      if (this.#watches.has(path) || (isRecursive && !roots.has(path))) continue;
      if (!this.#begin(path, inode)) break;
      begun.push(path);
    }
    return begun;
  }

  close(): void {
    for (const path of [...this.#watches.keys()]) this.#end(path);
  }

  #begin(path: string, inode: number): boolean {
    if (this.#watches.size >= this.#most) {
      this.problem = `only ${this.#most} folders may be watched`;
      return false;
    }
    try {
      const watcher = watch(path, { recursive: isRecursive }, () => this.#onChange(path));
      // A folder that is deleted, or a limit that is reached later.
      watcher.on('error', () => {
        this.#end(path);
        this.#onChange(path);
      });
      this.#watches.set(path, { inode, watcher });
      return true;
    } catch (error) {
      // A folder that was deleted meanwhile has no watch, and needs none.
      if (isMissing(error)) return true;
      this.problem = messageOf(error);
      return false;
    }
  }

  #end(path: string): void {
    this.#watches.get(path)?.watcher.close();
    this.#watches.delete(path);
  }
}
