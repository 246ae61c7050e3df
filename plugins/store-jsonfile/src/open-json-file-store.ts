import { opendirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StoreCapabilities } from '@hansard/provider';
import { isSystemError, withFile } from './errors.ts';
import { JsonFileStore } from './json-file-store.ts';
import { realPath } from './task-folder.ts';

/** What a store opened without options can do; with `durability: 'disk'` only that differs. */
export const jsonFileStoreCapabilities: StoreCapabilities = {
  durability: 'process',
  writers: 'dispatch',
  search: false,
  watch: true,
  deleteDispatch: true,
};

export interface JsonFileStoreOptions {
  /** The folder below which tasks lie; made at the first write where it is not there. */
  readonly root: string;
  /** `process`: what was appended survives the death of the process. `disk`: also the loss of power, at the disk's pace. */
  readonly durability?: 'process' | 'disk';
}

/** Opens the store below a folder. @throws STORE_UNAVAILABLE */
export function openJsonFileStore({ root, durability = 'process' }: JsonFileStoreOptions): JsonFileStore {
  const realRoot = withFile('open', root, () => {
    assertNoOtherFile(root);
    return realPath(resolve(root));
  });
  return new JsonFileStore(realRoot, { ...jsonFileStoreCapabilities, durability });
}

function assertNoOtherFile(root: string): void {
  try {
    opendirSync(root).closeSync();
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
  }
}
