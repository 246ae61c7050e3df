import type { Awaitable, StoreCapabilities } from '@hansard/provider';
import type { StoreFixture } from './store-fixture.ts';

/** What the kit needs to know of a store. */
export interface StoreUnderTest {
  /** The capabilities of the store. They choose the cases, and one case compares them with those of the opened store. */
  readonly capabilities: StoreCapabilities;
  /** Opens a new, empty store; called at least once for each case. */
  readonly create: () => Awaitable<StoreFixture>;
  /** Replays the random choices of the cases that make some; so does the environment variable `HANSARD_SEED`. */
  readonly seed?: number;
  /**
   * The lease with which `create` opens the store, in milliseconds. Short, such as 300: the cases in which a process stops
   * wait for it. Without it they are skipped.
   */
  readonly leaseMs?: number;
  /** How long a case may take, in milliseconds. A case that takes longer has failed. Absent: 120,000. */
  readonly caseLimitMs?: number;
  /**
   * Cases that the store is known to fail, each with the reason. Such a case must fail: one that passes is reported as a
   * failure, so that its entry is removed.
   */
  readonly knownGaps?: Readonly<Record<string, string>>;
}
