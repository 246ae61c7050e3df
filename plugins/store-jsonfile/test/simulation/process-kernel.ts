import { constants, type Dirent } from 'node:fs';
import { dirname } from 'node:path';
import { type FileStats, type Files, systemFiles } from '../../src/files.ts';
import type { Fault, Grant, Report } from './messages.ts';
import { type DiskChange, type FileFacts, SimulatedDisk } from './simulated-disk.ts';

/** The time that a step takes, in milliseconds. */
const stepMs = 0.02;

/** A failing system call. */
export function systemError(code: string, call: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, ${call} '${path}'`), { code, syscall: call, path });
}

const systemCalls = Object.keys(systemFiles) as readonly (keyof Files)[];

/** Ends everything that a process does. Each later step throws it again, so that no `finally` of the store changes the disk. */
export class Crash extends Error {}

/**
 * The clocks of the machine, in memory that all threads share: monotonic, then wall time, in milliseconds. From `livesAt` on, how often
 * each process has crashed.
 */
export type Clocks = Float64Array;
export const livesAt = 2;

/**
 * The operating system as one process sees it. Each system call is a step: the process needs a grant for it, and gives the turn back
 * when its grant is used.
 */
export class ProcessKernel implements Files {
  readonly #clocks: Clocks;
  readonly #takeTurn: (report: Omit<Report, 'outcome' | 'nextTimer' | 'heard'>) => Grant;
  #disk = new SimulatedDisk();
  #files = new Map<number, number>();
  #nextFile = 3;
  #changes: DiskChange[] = [];
  #used = 0;
  #grant: Grant = { changes: [], steps: 0, fault: null };
  #hasCrashed = false;
  readonly #attributes: AttributeCache;

  /** `cache`: the process is alone on its machine, which mounts the disk as a network file system. */
  constructor(
    clocks: Clocks,
    takeTurn: (report: Omit<Report, 'outcome' | 'nextTimer' | 'heard'>) => Grant,
    cache: AttributeCacheOptions = { ms: 0, keepsAbsence: false },
  ) {
    this.#clocks = clocks;
    this.#takeTurn = takeTurn;
    this.#attributes = new AttributeCache(cache);
  }

  /** The system calls as functions that need no `this`. */
  get files(): Files {
    const bound = systemCalls.map((name) => [name, this[name].bind(this)]);
    return Object.fromEntries(bound) as Files;
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  reset(): void {
    this.#disk = new SimulatedDisk();
    this.#begin();
    this.#changes = [];
  }

  /** Ends the process, which has no operation. */
  end(): void {
    this.#files.clear();
  }

  /** Begins an operation. */
  accept(grant: Grant): void {
    if (this.#hasCrashed) this.#begin();
    this.#take(grant);
  }

  /** What was done since the last report. */
  report(): Omit<Report, 'outcome' | 'nextTimer' | 'heard'> {
    const report = { changes: this.#changes, steps: this.#used };
    this.#changes = [];
    this.#used = 0;
    return report;
  }

  open(path: string, flags: number): number {
    this.#step('open', path);
    const { O_CREAT, O_EXCL, O_TRUNC } = constants;
    let ino = this.#find(path, 'open');
    if (ino === null) {
      if ((flags & O_CREAT) === 0) throw systemError('ENOENT', 'open', path);
      this.#existing(dirname(path), 'open');
      this.#change({ kind: 'create', path, time: this.#now() });
      ino = this.#disk.find(path) as number;
    } else if ((flags & O_EXCL) !== 0) throw systemError('EEXIST', 'open', path);
    if ((flags & O_TRUNC) !== 0 && this.#disk.facts(ino).size > 0)
      this.#change({ kind: 'resize', ino, size: 0, time: this.#now() });
    const fd = this.#nextFile;
    this.#nextFile += 1;
    this.#files.set(fd, ino);
    this.#afterStep();
    return fd;
  }

  /** Never a step: no other process can see it. */
  close(fd: number): void {
    this.#files.delete(fd);
  }

  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    this.#step('read', String(fd));
    const bytes = this.#disk.read(this.#opened(fd), length, position);
    buffer.set(bytes, offset);
    return bytes.length;
  }

  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
    const isShort = this.#step('write', String(fd));
    const count = isShort ? Math.ceil(length / 2) : length;
    const bytes = Buffer.from(buffer.subarray(offset, offset + count));
    this.#change({ kind: 'write', ino: this.#opened(fd), bytes, position, time: this.#now() });
    this.#afterStep();
    return count;
  }

  truncate(fd: number, size: number): void {
    this.#step('ftruncate', String(fd));
    this.#change({ kind: 'resize', ino: this.#opened(fd), size, time: this.#now() });
    this.#afterStep();
  }

  sync(fd: number): void {
    this.#step('fsync', String(fd));
    this.#change({ kind: 'sync', ino: this.#opened(fd) });
    this.#afterStep();
  }

  syncData(fd: number): void {
    this.sync(fd);
  }

  statOpen(fd: number): FileStats {
    this.#step('fstat', String(fd));
    return statsOf(this.#disk.facts(this.#opened(fd)));
  }

  stat(path: string): FileStats | null {
    this.#step('stat', path);
    const facts = this.#attributes.read(path, this.#clocks[0] as number, () => {
      const ino = this.#find(path, 'stat');
      return ino === null ? null : this.#disk.facts(ino);
    });
    return facts === null ? null : statsOf(facts);
  }

  lstat(path: string): FileStats | null {
    return this.stat(path);
  }

  touch(path: string, mtimeMs: number): void {
    this.#step('utimes', path);
    this.#change({ kind: 'times', ino: this.#existing(path, 'utimes'), mtimeMs, time: this.#now() });
    this.#afterStep();
  }

  rename(from: string, to: string): void {
    this.#step('rename', from);
    this.#existing(from, 'rename');
    this.#existing(dirname(to), 'rename');
    this.#change({ kind: 'rename', from, to, time: this.#now() });
    this.#afterStep();
  }

  link(from: string, to: string): void {
    this.#step('link', to);
    this.#existing(from, 'link');
    this.#existing(dirname(to), 'link');
    if (this.#find(to, 'link') !== null) throw systemError('EEXIST', 'link', to);
    this.#change({ kind: 'link', from, to, time: this.#now() });
    this.#afterStep();
  }

  remove(path: string): boolean {
    this.#step('unlink', path);
    if (this.#find(path, 'unlink') === null) return false;
    this.#change({ kind: 'remove', path, time: this.#now() });
    this.#afterStep();
    return true;
  }

  makeFolder(path: string): void {
    this.#step('mkdir', path);
    if (this.#find(path, 'mkdir') !== null) return;
    this.#change({ kind: 'folders', path, time: this.#now() });
    this.#afterStep();
  }

  removeFolder(path: string): boolean {
    this.#step('rmdir', path);
    const ino = this.#find(path, 'rmdir');
    if (ino === null) return false;
    if (this.#disk.list(ino).length > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
    this.#change({ kind: 'remove', path, time: this.#now() });
    this.#afterStep();
    return true;
  }

  list(path: string): Dirent[] {
    this.#step('scandir', path);
    return this.#disk
      .list(this.#existing(path, 'scandir'))
      .map(({ name, kind }) => direntOf(path, name, kind));
  }

  /** Never a step: the simulated disk has no symbolic links, and the folders of tasks are never removed. */
  realPath(path: string): string {
    this.#existing(path, 'realpath');
    return path;
  }

  /** The others can run before it ends. */
  pause(ms: number): void {
    this.#step('sleep', `${ms} ms`);
    this.#pass(ms);
  }

  watch(): () => void {
    return () => undefined;
  }

  #begin(): void {
    this.#files = new Map();
    this.#attributes.clear();
    this.#hasCrashed = false;
  }

  #take(grant: Grant): void {
    for (const change of grant.changes) this.#disk.apply(change);
    this.#grant = grant;
  }

  /** Takes a step. Returns whether a write is to be short. @throws Crash, and the failure that the grant states */
  #step(call: string, path: string): boolean {
    if (this.#hasCrashed) throw new Crash('crashed');
    while (this.#used === this.#grant.steps) this.#take(this.#takeTurn(this.report()));
    this.#used += 1;
    this.#pass(stepMs);
    const fault = this.#lastFault();
    if (fault === null || fault === 'crash after') return false;
    if (fault === 'short write') return true;
    if (fault === 'crash before') this.#crash();
    throw systemError(fault, call, path);
  }

  #pass(ms: number): void {
    const [monotonic = 0, wall = 0] = this.#clocks;
    this.#clocks[0] = monotonic + ms;
    this.#clocks[1] = wall + ms;
  }

  #afterStep(): void {
    if (this.#lastFault() === 'crash after') this.#crash();
  }

  #lastFault(): Fault | null {
    return this.#used === this.#grant.steps ? this.#grant.fault : null;
  }

  #crash(): never {
    this.#hasCrashed = true;
    this.#files.clear();
    throw new Crash('crashed');
  }

  #change(change: DiskChange): void {
    this.#attributes.forget(change, (path) => this.#disk.find(path));
    this.#disk.apply(change);
    this.#changes.push(change);
  }

  #now(): number {
    return this.#clocks[1] as number;
  }

  #opened(fd: number): number {
    const ino = this.#files.get(fd);
    if (ino === undefined) throw systemError('EBADF', 'use', String(fd));
    return ino;
  }

  #existing(path: string, call: string): number {
    const ino = this.#find(path, call);
    if (ino === null) throw systemError('ENOENT', call, path);
    return ino;
  }

  #find(path: string, call: string): number | null {
    try {
      return this.#disk.find(path);
    } catch {
      throw systemError('ENOTDIR', call, path);
    }
  }
}

/** As mount options of NFS: `actimeo`, and `lookupcache=positive` unless it also keeps that a file is missing. */
export interface AttributeCacheOptions {
  readonly ms: number;
  readonly keepsAbsence: boolean;
}

/**
 * The facts about files that a client of a network file system keeps for a time. It knows its own changes. What it opens and
 * reads, and whether it makes a name, the server decides.
 */
class AttributeCache {
  readonly #ms: number;
  readonly #keepsAbsence: boolean;
  readonly #known = new Map<string, { readonly at: number; readonly facts: FileFacts | null }>();

  constructor({ ms, keepsAbsence }: AttributeCacheOptions) {
    this.#ms = ms;
    this.#keepsAbsence = keepsAbsence;
  }

  read(path: string, now: number, fromServer: () => FileFacts | null): FileFacts | null {
    const known = this.#known.get(path);
    if (known !== undefined && now - known.at < this.#ms) return known.facts;
    const facts = fromServer();
    if (this.#ms > 0 && (facts !== null || this.#keepsAbsence)) this.#known.set(path, { at: now, facts });
    return facts;
  }

  clear(): void {
    this.#known.clear();
  }

  forget(change: DiskChange, find: (path: string) => number | null): void {
    if (this.#ms === 0 || change.kind === 'power loss') return;
    const paths = 'path' in change ? [change.path] : 'from' in change ? [change.from, change.to] : [];
    const ino = 'ino' in change ? change.ino : find(paths[0] ?? '');
    for (const [path, { facts }] of this.#known)
      if (paths.includes(path) || (facts !== null && facts.ino === ino)) this.#known.delete(path);
  }
}

function statsOf({ ino, size, kind, links, mtimeMs, ctimeMs }: FileFacts): FileStats {
  const isFolder = kind === 'folder';
  return {
    ino,
    size,
    nlink: links,
    mtimeMs,
    ctimeMs,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
    isFIFO: () => false,
    isSocket: () => false,
  };
}

function direntOf(parentPath: string, name: string, kind: FileFacts['kind']): Dirent {
  const isFolder = kind === 'folder';
  const never = () => false;
  return {
    name,
    parentPath,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: never,
    isFIFO: never,
    isSocket: never,
    isBlockDevice: never,
    isCharacterDevice: never,
  };
}
