/**
 * The abilities of a store, as constant plain data. Each flag selects cases of the conformance kit.
 */
export interface StoreCapabilities {
  /**
   * The failures that an event survives once its append has returned.
   * `memory`: none. `process`: the end of the process. `disk`: the end of the process and the loss of power.
   */
  readonly durability: 'memory' | 'process' | 'disk';
  /**
   * The writers that a store allows at the same time.
   * `process`: one process has the store, and opens it once. `dispatch`: processes share a store; each dispatch is claimed
   * by one opening at a time, and the claim of a second one is STORE_LOCKED with the owner's name. Such a store has
   * `findClaim`, `findClaims` and `breakClaim`.
   */
  readonly writers: 'process' | 'dispatch';
  /**
   * The store has `searchEvents`. `index`: it looks words up. `scan`: it reads the whole scope, so that a search of a large scope is better
   * done dispatch by dispatch. `false`: it has no search.
   */
  readonly search: 'index' | 'scan' | false;
  /** The store has `watch`, which also reports changes by other processes. */
  readonly watch: boolean;
  /** The store has `deleteDispatch`. */
  readonly deleteDispatch: boolean;
  /** The store has `rewriteDispatch`. */
  readonly rewrite: boolean;
  /**
   * What a read detects. `none`: only what is no longer an event. `checksum`: bytes that changed, and events that are
   * missing, doubled or out of place; the store has `verifyDispatch` and `acceptLoss`.
   */
  readonly integrity: 'none' | 'checksum';
}
