import { randomFrom } from '@hansard/testing/simulation';

/** The facts about a file that a store reads. */
export interface FileFacts {
  readonly ino: number;
  readonly size: number;
  readonly kind: 'file' | 'folder';
  readonly links: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** A change of the disk, as plain data. `time` is in milliseconds. */
export type DiskChange =
  | { readonly kind: 'create'; readonly path: string; readonly time: number }
  | {
      readonly kind: 'write';
      readonly ino: number;
      readonly bytes: Uint8Array;
      readonly position: number;
      readonly time: number;
    }
  | { readonly kind: 'resize'; readonly ino: number; readonly size: number; readonly time: number }
  | { readonly kind: 'sync'; readonly ino: number }
  | { readonly kind: 'times'; readonly ino: number; readonly mtimeMs: number; readonly time: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly time: number }
  | { readonly kind: 'link'; readonly from: string; readonly to: string; readonly time: number }
  | { readonly kind: 'remove'; readonly path: string; readonly time: number }
  | { readonly kind: 'folders'; readonly path: string; readonly time: number }
  | { readonly kind: 'power loss'; readonly seed: number };

type DataChange = Extract<DiskChange, { kind: 'write' | 'resize' }>;

interface Inode {
  readonly ino: number;
  readonly kind: 'file' | 'folder';
  bytes: Buffer;
  size: number;
  /** What a loss of power cannot take. */
  synced: Buffer;
  /** The changes since then. */
  pending: DataChange[];
  links: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** A null is a removed name. */
type NameChange = readonly [name: string, ino: number | null];

interface Folder {
  readonly inode: Inode;
  readonly names: Map<string, number>;
  syncedNames: Map<string, number>;
  /** The changes since the folder was last on the disk, in order. Each is made as a whole, such as both names of a rename. */
  pending: (readonly NameChange[])[];
}

const sectorBytes = 512;

/**
 * A file system in memory that knows which bytes and names are on the disk. It changes only by `apply`, and two disks with the same changes
 * are equal. So each simulated process has a copy of its own, and receives the changes of the others before its turn.
 * Paths are absolute.
 */
export class SimulatedDisk {
  readonly #inodes = new Map<number, Inode>();
  readonly #folders = new Map<number, Folder>();
  readonly #root: Folder;
  #nextInode = 1;

  /** A disk with one folder, `/store`. */
  constructor() {
    this.#root = this.#newFolder(0);
    this.#makeFolders({ kind: 'folders', path: '/store', time: 0 });
    this.#sync(this.#root.inode.ino);
  }

  /** The number of the file or folder at a path; null if there is none. @throws 'ENOTDIR' */
  find(path: string): number | null {
    let { ino } = this.#root.inode;
    for (const name of parts(path)) {
      const folder = this.#folders.get(ino);
      if (folder === undefined) throw 'ENOTDIR';
      const found = folder.names.get(name);
      if (found === undefined) return null;
      ino = found;
    }
    return ino;
  }

  facts(ino: number): FileFacts {
    const { size, kind, links, mtimeMs, ctimeMs } = this.#inode(ino);
    return { ino, size, kind, links, mtimeMs, ctimeMs };
  }

  /** At most `length` bytes of a file, not as a copy. */
  read(ino: number, length: number, position: number): Buffer {
    const { bytes, size } = this.#inode(ino);
    return bytes.subarray(Math.min(position, size), Math.min(size, position + length));
  }

  /** The names in a folder, in the order in which they were made. */
  list(ino: number): { readonly name: string; readonly kind: FileFacts['kind'] }[] {
    const names = this.#folders.get(ino)?.names ?? new Map<string, number>();
    return [...names].map(([name, inner]) => ({ name, kind: this.#inode(inner).kind }));
  }

  /** Makes a change, which the caller has checked: what it names exists. */
  apply(change: DiskChange): void {
    switch (change.kind) {
      case 'create':
        this.#setName(change.path, this.#newInode('file', change.time).ino);
        break;
      case 'write':
      case 'resize':
        this.#changeData(this.#inode(change.ino), change);
        break;
      case 'sync':
        this.#sync(change.ino);
        break;
      case 'times': {
        const inode = this.#inode(change.ino);
        inode.mtimeMs = change.mtimeMs;
        inode.ctimeMs = change.time;
        break;
      }
      case 'rename':
        this.#rename(change);
        break;
      case 'link': {
        const inode = this.#inodeAt(change.from);
        this.#setName(change.to, inode.ino);
        inode.links += 1;
        inode.ctimeMs = change.time;
        break;
      }
      case 'remove': {
        const inode = this.#inodeAt(change.path);
        this.#setName(change.path, null);
        inode.links -= 1;
        inode.ctimeMs = change.time;
        break;
      }
      case 'folders':
        this.#makeFolders(change);
        break;
      case 'power loss':
        this.#losePower(randomFrom(change.seed));
        break;
    }
  }

  #changeData(inode: Inode, change: DataChange): void {
    const end = change.kind === 'write' ? change.position + change.bytes.length : change.size;
    if (end > inode.bytes.length)
      inode.bytes = resized(inode.bytes, Math.max(end, inode.bytes.length * 2, 4_096));
    // What was cut before must not appear again.
    const zerosTo = change.kind === 'write' ? change.position : end;
    if (zerosTo > inode.size) inode.bytes.fill(0, inode.size, zerosTo);
    if (change.kind === 'write') inode.bytes.set(change.bytes, change.position);
    inode.size = change.kind === 'write' ? Math.max(inode.size, end) : end;
    inode.pending.push(change);
    inode.mtimeMs = change.time;
    inode.ctimeMs = change.time;
  }

  #sync(ino: number): void {
    const inode = this.#inode(ino);
    inode.synced = Buffer.from(inode.bytes.subarray(0, inode.size));
    inode.pending = [];
    const folder = this.#folders.get(ino);
    if (folder === undefined) return;
    folder.syncedNames = new Map(folder.names);
    folder.pending = [];
  }

  #rename({ from, to, time }: Extract<DiskChange, { kind: 'rename' }>): void {
    const inode = this.#inodeAt(from);
    const replaced = this.find(to);
    if (replaced === inode.ino) return;
    const [folder, name] = this.#placeOf(to);
    const [oldFolder, oldName] = this.#placeOf(from);
    if (folder === oldFolder) changeNames(folder, [name, inode.ino], [oldName, null]);
    else {
      changeNames(folder, [name, inode.ino]);
      changeNames(oldFolder, [oldName, null]);
    }
    inode.ctimeMs = time;
    if (replaced === null) return;
    const lost = this.#inode(replaced);
    lost.links -= 1;
    lost.ctimeMs = time;
  }

  #makeFolders({ path, time }: Extract<DiskChange, { kind: 'folders' }>): void {
    let folder = this.#root;
    for (const name of parts(path)) {
      const found = this.#folders.get(folder.names.get(name) ?? 0);
      const inner = found ?? this.#newFolder(time);
      if (found === undefined) changeNames(folder, [name, inner.inode.ino]);
      folder = inner;
    }
  }

  /**
   * Takes everything that is not on the disk, except what chance leaves: of each folder the first of its changes up to one
   * that chance chooses, of each file any of the sectors that were written.
   */
  #losePower(chance: () => number): void {
    for (const folder of this.#folders.values()) {
      const kept = Math.floor(chance() * (folder.pending.length + 1));
      folder.names.clear();
      for (const [name, ino] of folder.syncedNames) folder.names.set(name, ino);
      for (const changes of folder.pending.slice(0, kept)) setNames(folder.names, changes);
      folder.syncedNames = new Map(folder.names);
      folder.pending = [];
    }
    const links = new Map<number, number>();
    for (const { names } of this.#folders.values())
      for (const ino of names.values()) links.set(ino, (links.get(ino) ?? 0) + 1);
    for (const inode of this.#inodes.values()) {
      if (inode.kind === 'folder') continue;
      loseData(inode, chance);
      inode.links = links.get(inode.ino) ?? 0;
    }
  }

  #setName(path: string, ino: number | null): void {
    const [folder, name] = this.#placeOf(path);
    changeNames(folder, [name, ino]);
  }

  #placeOf(path: string): readonly [folder: Folder, name: string] {
    const at = path.lastIndexOf('/');
    return [this.#folders.get(this.find(path.slice(0, at)) ?? 0) as Folder, path.slice(at + 1)];
  }

  #inodeAt(path: string): Inode {
    return this.#inode(this.find(path) ?? 0);
  }

  #inode(ino: number): Inode {
    return this.#inodes.get(ino) as Inode;
  }

  #newInode(kind: Inode['kind'], time: number): Inode {
    const inode: Inode = {
      ino: this.#nextInode,
      kind,
      bytes: Buffer.alloc(0),
      size: 0,
      synced: Buffer.alloc(0),
      pending: [],
      links: 1,
      mtimeMs: time,
      ctimeMs: time,
    };
    this.#nextInode += 1;
    this.#inodes.set(inode.ino, inode);
    return inode;
  }

  #newFolder(time: number): Folder {
    const inode = this.#newInode('folder', time);
    const folder: Folder = { inode, names: new Map(), syncedNames: new Map(), pending: [] };
    this.#folders.set(inode.ino, folder);
    return folder;
  }
}

function loseData(inode: Inode, chance: () => number): void {
  let bytes = Buffer.from(inode.synced);
  for (const change of inode.pending) {
    if (change.kind === 'resize') {
      if (chance() < 0.5) bytes = resized(bytes, change.size);
      continue;
    }
    for (let at = 0; at < change.bytes.length; ) {
      const next = at + sectorBytes - ((change.position + at) % sectorBytes);
      const sector = change.bytes.subarray(at, next);
      const end = change.position + at + sector.length;
      if (chance() < 0.5) {
        if (end > bytes.length) bytes = resized(bytes, end);
        bytes.set(sector, change.position + at);
      }
      at = next;
    }
  }
  inode.bytes = bytes;
  inode.size = bytes.length;
  inode.synced = Buffer.from(bytes);
  inode.pending = [];
}

function resized(bytes: Buffer, size: number): Buffer<ArrayBuffer> {
  const copy = Buffer.alloc(size);
  bytes.copy(copy, 0, 0, Math.min(size, bytes.length));
  return copy;
}

function changeNames(folder: Folder, ...changes: readonly NameChange[]): void {
  setNames(folder.names, changes);
  folder.pending.push(changes);
}

function setNames(names: Map<string, number>, changes: readonly NameChange[]): void {
  for (const [name, ino] of changes) {
    if (ino === null) names.delete(name);
    else names.set(name, ino);
  }
}

function parts(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}
