import { resolve } from 'node:path';
import type { StoreCapabilities } from '@hansard/provider';
import { defaultLeaseMs, orMissing, realPath, withFile } from '@hansard/store-kit';
import type { Access } from './files.ts';
import { JsonFileDispatchStore } from './json-file-store.ts';
import { type StoreSystem, systemFor } from './store-system.ts';

/** The capabilities of a store that is opened without options. Another `durability` changes only that field. */
export const jsonFileStoreCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: 'scan',
  watch: true,
  deleteDispatch: true,
  rewrite: true,
  integrity: 'checksum',
};

export interface JsonFileStoreOptions {
  /** The folder of the tasks. The first write creates it if it does not exist. */
  readonly root: string;
  /**
   * The failures that an appended event survives. `process` (the default): the end of the process. `disk`: also the loss of
   * power; each append then waits for the disk.
   */
  readonly durability?: 'process' | 'disk';
  /**
   * Who may read new files and folders. `private` (the default): only the owner. `shared`: whom the umask of the process
   * allows. Files and folders that exist keep their permissions.
   */
  readonly access?: Access;
  /**
   * Milliseconds, at least 100; 15,000 by default. A claim whose owner is not proven to have exited can be taken over after it was
   * not renewed for so long. An owner renews its claims in each third of it.
   */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a folder. Reading creates nothing. A test can replace `system`.
 * @throws STORE_UNAVAILABLE if the root is not a readable folder
 */
export function openJsonFileStore(
  { root, durability = 'process', access = 'private', leaseMs = defaultLeaseMs }: JsonFileStoreOptions,
  system: StoreSystem = systemFor(access),
): JsonFileDispatchStore {
  const { files } = system;
  const realRoot = withFile('open', root, () => {
    orMissing(() => files.list(root), ['ENOENT']);
    return realPath(resolve(root), files.realPath);
  });
  return new JsonFileDispatchStore(realRoot, { ...jsonFileStoreCapabilities, durability }, leaseMs, system);
}
