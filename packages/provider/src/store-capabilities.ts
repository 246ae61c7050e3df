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
   * `process`: one process has the store, and opens it once. `dispatch`: processes share a store; each dispatch is claimed
   * by one opening at a time, and the claim of a second one is STORE_LOCKED with the owner's name.
   */
  readonly writers: 'process' | 'dispatch';
  /** `searchEvents` is there. */
  readonly search: boolean;
  /** `watchEvents` is there, and hears of appends by other processes too. */
  readonly watch: boolean;
  /** `deleteDispatch` is there. */
  readonly deleteDispatch: boolean;
}
