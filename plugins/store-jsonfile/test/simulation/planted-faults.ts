import type { Files } from '../../src/files.ts';
import type { StoreSystem } from '../../src/store-system.ts';
import type { PlantedFault } from './simulation.ts';

/** The system of a store with a fault in it, as a careless change of the store would have put it there. */
export function plantFault(fault: PlantedFault | undefined, system: StoreSystem): StoreSystem {
  switch (fault) {
    case undefined:
      return system;
    case 'missing sync':
      return withFiles(system, { sync() {}, syncData() {} });
    case 'wall clock': {
      const { clock } = system;
      return { ...system, clock: { now: clock.now, after: clock.after, monotonic: clock.now } };
    }
    case 'early rename':
      return withFiles(system, lateWrites(system.files));
    case 'late check':
      return withFiles(system, firstFacts(system.files));
    case 'kept copies':
      return withFiles(system, ownCopies(system.files));
    case 'removal by name':
      return withFiles(system, namedRemovals(system.files));
  }
}

function withFiles(system: StoreSystem, changed: Partial<Files>): StoreSystem {
  const { files } = system;
  const all = new Proxy(files, {
    get(target, key) {
      if (Object.hasOwn(changed, key)) return changed[key as keyof Files];
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { ...system, files: all };
}

/** Writes a temporary file only after it has been renamed. */
function lateWrites(files: Files): Partial<Files> {
  const temporary = new Map<number, { readonly path: string; readonly writes: (() => void)[] }>();
  return {
    open(path, flags) {
      const fd = files.open(path, flags);
      if (path.endsWith('.tmp')) temporary.set(fd, { path, writes: [] });
      return fd;
    },
    write(fd, buffer, offset, length, position) {
      const file = temporary.get(fd);
      if (file === undefined) return files.write(fd, buffer, offset, length, position);
      const bytes = Buffer.from(buffer.subarray(offset, offset + length));
      file.writes.push(() => files.write(fd, bytes, 0, length, position));
      return length;
    },
    // Closed when it is renamed.
    close(fd) {
      if (!temporary.has(fd)) files.close(fd);
    },
    rename(from, to) {
      files.rename(from, to);
      for (const [fd, { path, writes }] of temporary) {
        if (path !== from) continue;
        temporary.delete(fd);
        for (const write of writes) write();
        files.close(fd);
      }
    },
  };
}

/** Leaves the copies of other owners where they are. */
function ownCopies(files: Files): Partial<Files> {
  const own = new Set<string>();
  return {
    open(path, flags) {
      const fd = files.open(path, flags);
      if (path.endsWith('.tmp')) own.add(path);
      return fd;
    },
    remove: (path) => (path.endsWith('.tmp') && !own.has(path) ? false : files.remove(path)),
  };
}

/** Removes a deleted file by its name, whatever has this name then. */
function namedRemovals(files: Files): Partial<Files> {
  return {
    rename(from, to) {
      if (!to.includes('.gone/')) files.rename(from, to);
      else if (!files.remove(from))
        throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT', syscall: 'unlink', path: from });
    },
  };
}

/** Looks at a dispatch file only once, so that a writer never sees that another one took its place. */
function firstFacts(files: Files): Partial<Files> {
  const known = new Map<string, ReturnType<Files['stat']>>();
  return {
    stat(path) {
      if (!path.includes('/dispatches/d')) return files.stat(path);
      const facts = known.get(path) ?? files.stat(path);
      known.set(path, facts);
      return facts;
    },
    link(from, to) {
      known.clear();
      files.link(from, to);
    },
  };
}
