import { resolve } from 'node:path';
import { definePlugin } from '@hansard/provider';
import { openExampleStore } from './example-store.ts';

export { exampleStoreCapabilities, openExampleStore } from './example-store.ts';

export default definePlugin({
  id: 'store-example',
  provides: 'DispatchStoreProvider',
  create: (config: { readonly root: string }, { baseDir }) =>
    openExampleStore({ root: resolve(baseDir, config.root) }),
});
