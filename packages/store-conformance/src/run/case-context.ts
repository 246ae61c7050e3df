import {
  type Awaitable,
  type DispatchStoreProvider,
  type StoreCapabilities,
  storeErrors,
} from '@hansard/provider';
import type { StoreFixture, StoreModule, StoreUnderTest } from './store-under-test.ts';

/** How long a case may take, in milliseconds, unless the author says otherwise. */
export const defaultCaseLimitMs = 120_000;

/** What a case did. */
export interface CaseCounts {
  /** Processes that were killed while they used the store. */
  kills: number;
  /** Processes that were stopped, and continued. */
  stops: number;
  /** Events whose append another process acknowledged. */
  acknowledgedEvents: number;
  /** Claims and writes of other processes that were STORE_LOCKED. */
  refused: number;
  /** Changes of stored bytes. */
  changes: number;
}

export const noCounts = (): CaseCounts => ({
  kills: 0,
  stops: 0,
  acknowledgedEvents: 0,
  refused: 0,
  changes: 0,
});

/** The arguments of a case: a new, empty store, and ways to open its data again. */
export interface CaseContext {
  readonly store: DispatchStoreProvider;
  /** The capabilities that the author states. */
  readonly capabilities: StoreCapabilities;
  /** The seed to replay, if the author gave one. */
  readonly seed: number | undefined;
  /** After how many milliseconds a call that never answers fails a case: an eighth of the limit of a case. */
  readonly patienceMs: number;
  /** Whether the cases about sizes use the large profile. */
  readonly large: boolean;
  /** The lease of the store in milliseconds, if the author gave one. */
  readonly leaseMs: number | undefined;
  /** Opens the same data in another process. */
  readonly elsewhere: StoreModule | undefined;
  /** The stored bytes of a dispatch. */
  readonly damage: StoreFixture['damage'];
  /** All that the store keeps. */
  readonly bytes: StoreFixture['bytes'];
  /** Makes calls of the system fail. */
  readonly faults: StoreFixture['faults'];
  /** Loses power. The openings before are not closed any more: `openBeside` opens the remainder. */
  readonly losePower: StoreFixture['losePower'];
  /** Moves or replaces the file of a dispatch. */
  readonly displace: StoreFixture['displace'];
  /** Puts a log under another name. */
  readonly misplace: StoreFixture['misplace'];
  /** The server of the store. */
  readonly network: StoreFixture['network'];
  /** The settings of the server on which `durability: 'disk'` depends. */
  readonly serverSettings: StoreFixture['serverSettings'];
  /** Whether a server keeps the data. */
  readonly hasServer: boolean;
  /** Closes the store, then opens the same data again. Another call closes the store that the last call opened. */
  reopen(): Promise<DispatchStoreProvider>;
  /** Opens the same data a second time while the store stays open. */
  openBeside(): Promise<DispatchStoreProvider>;
  /** Calls the action with another store, new and empty, and then closes and removes it. */
  withNewStore<Result>(action: (context: CaseContext) => Promise<Result>): Promise<Result>;
  /** Adds to the numbers in the result of the case: what it did. */
  count(what: keyof CaseCounts, number?: number): void;
  /** Registers what must be ended before the store is removed, such as a process. */
  atEnd(end: () => Awaitable<void>): void;
}

interface OpenCase {
  readonly context: CaseContext;
  readonly counts: Readonly<CaseCounts>;
  /** Closes and removes everything; every step is tried. */
  readonly cleanUp: () => Promise<readonly unknown[]>;
}

/** @throws Error if something in the storage belongs to nothing, and `findRemains` does not name it */
async function takeCensus({ census, reopen }: StoreFixture): Promise<void> {
  if (census === undefined || reopen === undefined) return;
  let named: readonly string[];
  try {
    const store = await reopen();
    named = (await store.findRemains?.()) ?? [];
    await store.close();
  } catch (error) {
    // A case has damaged the storage of all dispatches.
    if (storeErrors.is(error, 'STORE_CORRUPT') || storeErrors.is(error, 'STORE_UNAVAILABLE')) return;
    throw error;
  }
  const unnamed = (await census()).filter((place) => !named.some((line) => line.includes(place)));
  if (unnamed.length > 0)
    throw new Error(
      `After the case, the storage has ${unnamed.join(' and ')}, which \`findRemains\` does not name.`,
    );
}

/** What a case uses of the fixture as it is. */
function partsOf(fixture: StoreFixture) {
  const {
    elsewhere,
    damage,
    bytes,
    faults,
    displace,
    misplace,
    network,
    serverSettings,
    hasServer = false,
  } = fixture;
  return { elsewhere, damage, bytes, faults, displace, misplace, network, serverSettings, hasServer };
}

/** What a case uses of the options. */
function choicesOf({
  capabilities,
  seed,
  leaseMs,
  large = false,
  caseLimitMs = defaultCaseLimitMs,
}: StoreUnderTest) {
  return { capabilities, seed, leaseMs, large, patienceMs: caseLimitMs / 8 };
}

/** Creates the context of one case, and the function that cleans up after it. */
export async function openCase(options: StoreUnderTest, counts = noCounts()): Promise<OpenCase> {
  const fixture = await options.create();
  /** The openings that a loss of power ended. */
  const lost = new Set<DispatchStoreProvider>();
  const openings: DispatchStoreProvider[] = [fixture.store];
  const close = (store: DispatchStoreProvider) => () => (lost.has(store) ? undefined : store.close());
  const steps: Array<() => Awaitable<void>> = [
    () => fixture.dispose(),
    () => takeCensus(fixture),
    close(fixture.store),
  ];
  let newest = fixture.store;

  const open = async () => {
    if (fixture.reopen === undefined)
      throw new TypeError(
        `The fixture needs reopen(), because the store states durability '${options.capabilities.durability}'.`,
      );
    const store = await fixture.reopen();
    openings.push(store);
    steps.push(close(store));
    return store;
  };
  const context: CaseContext = {
    store: fixture.store,
    ...choicesOf(options),
    ...partsOf(fixture),
    losePower:
      fixture.losePower &&
      (async (seed) => {
        for (const store of openings) lost.add(store);
        await fixture.losePower?.(seed);
      }),
    async reopen() {
      await newest.close();
      newest = await open();
      return newest;
    },
    openBeside: open,
    async withNewStore(action) {
      const other = await openCase(options, counts);
      try {
        return await action(other.context);
      } finally {
        const [error] = await other.cleanUp();
        // Reported with the other errors of cleaning up, and not in place of the error of the action.
        if (error !== undefined) steps.push(() => Promise.reject(error));
      }
    },
    count: (what, number = 1) => {
      counts[what] += number;
    },
    atEnd: (end) => void steps.push(end),
  };
  const cleanUp = async () => {
    const errors: unknown[] = [];
    for (const step of steps.reverse()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  };
  return { context, counts, cleanUp };
}
