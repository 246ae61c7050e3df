export type { Dispatch, DispatchEnd, NewDispatch } from './store/dispatch.ts';
export type { DispatchStore } from './store/dispatch-store.ts';
export { openDispatchStore } from './store/open-dispatch-store.ts';
export type { DispatchStoreOptions } from './store/store-options.ts';
