import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { openJsonFileStore } from './open-json-file-store.ts';

export type { JsonFileStore } from './json-file-store.ts';
export {
  type JsonFileStoreOptions,
  jsonFileStoreCapabilities,
  openJsonFileStore,
} from './open-json-file-store.ts';

export default definePlugin({
  id: 'store-jsonfile',
  provides: 'DispatchStoreProvider',
  create: (config: { root: string; durability?: 'process' | 'disk' }, { baseDir }) =>
    openJsonFileStore({ ...config, root: resolve(baseDir, config.root) }),
});
