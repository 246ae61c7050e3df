import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { type JsonFileStoreOptions, openJsonFileStore } from './json-file-store.ts';

export type { JsonFileDispatchStore } from './json-file-store.ts';
export {
  type JsonFileStoreOptions,
  jsonFileStoreCapabilities,
  openJsonFileStore,
} from './json-file-store.ts';

export default definePlugin({
  id: 'store-jsonfile',
  provides: 'DispatchStoreProvider',
  create: (config: JsonFileStoreOptions, { baseDir }) =>
    openJsonFileStore({ ...config, root: resolve(baseDir, config.root) }),
});
