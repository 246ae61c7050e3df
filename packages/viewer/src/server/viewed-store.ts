import type { DispatchLog, DispatchRef, DispatchStore, SearchedStore } from '@hansard/dispatch';

/** What the viewer uses of a store: reading methods, none of which claims or changes anything. */
export interface ViewedStore
  extends Pick<DispatchStore, 'capabilities' | 'listTasks' | 'listDispatches' | 'watch'>,
    SearchedStore {
  findDispatch(dispatch: DispatchRef): Promise<DispatchLog | null>;
}

/** The reading methods of a store as an object that has no others. */
export function viewedStore(store: ViewedStore): ViewedStore {
  return {
    capabilities: store.capabilities,
    listTasks: () => store.listTasks(),
    listDispatches: (options) => store.listDispatches(options),
    watch: (scope, onChange) => store.watch(scope, onChange),
    dispatches: (options) => store.dispatches(options),
    searchEvents: (query, options) => store.searchEvents(query, options),
    findDispatch: (dispatch) => store.findDispatch(dispatch),
  };
}
