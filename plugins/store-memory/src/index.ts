import { definePlugin } from '@hansard/provider';
import { createMemoryStore } from './memory-store.ts';

export { createMemoryStore, type MemoryStore, memoryStoreCapabilities } from './memory-store.ts';

export default definePlugin({
  id: 'store-memory',
  provides: 'DispatchStoreProvider',
  create: () => createMemoryStore(),
});
