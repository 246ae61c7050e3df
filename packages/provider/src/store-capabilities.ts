/**
 * What a store can do, as constant plain data. Each flag decides which cases of the conformance kit apply to it.
 */
export interface StoreCapabilities {
  /**
   * What survives once an append has returned.
   * `memory`: nothing beyond the provider. `process`: the death of the process. `disk`: also the loss of power.
   */
  readonly durability: 'memory' | 'process' | 'disk';
  /**
   * Who may write at the same time.
   * `process`: the dispatches of one store belong to one process. `dispatch`: processes share a store, each dispatch
   * has one writer at a time, and a second one gets STORE_LOCKED with the owner's name.
   */
  readonly writers: 'process' | 'dispatch';
  /** `searchEvents` is there. */
  readonly search: boolean;
  /** `watchEvents` is there, and hears of appends by other processes too. */
  readonly watch: boolean;
  /** `deleteDispatch` is there. */
  readonly deleteDispatch: boolean;
}
