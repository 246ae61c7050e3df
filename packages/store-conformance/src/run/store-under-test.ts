import type { Awaitable, DispatchStoreProvider, JsonValue, StoreCapabilities } from '@hansard/provider';

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
  /** The large profile of the cases about sizes: 1,000,000 events and 5,000 dispatches. Absent: the quick one. */
  readonly large?: boolean;
  /** How long a case may take, in milliseconds. A case that takes longer has failed. Absent: 120,000. */
  readonly caseLimitMs?: number;
  /**
   * Cases that the store is known to fail, each with the reason. Such a case must fail: one that passes is reported as a
   * failure, so that its entry is removed.
   */
  readonly knownGaps?: Readonly<Record<string, string>>;
}

/** A new, empty store for one case. */
export interface StoreFixture {
  readonly store: DispatchStoreProvider;
  /**
   * Opens the same data again. It closes nothing itself: the kit has closed the store before, except in the cases for
   * `writers: 'dispatch'`, which open it several times on purpose. Required unless `durability` is `memory`.
   */
  readonly reopen?: () => Awaitable<DispatchStoreProvider>;
  /** Opens the same data in another process. Without it the cases with real processes are skipped. */
  readonly elsewhere?: StoreModule;
  /**
   * The stored bytes of one dispatch, which the kit damages while the store is closed. Without it the cases with
   * damaged bytes are skipped.
   */
  readonly damage?: (taskDir: string, dispatchId: string) => Awaitable<StoredBytes>;
  /**
   * All that the store keeps, as bytes: its files one after the other, or what its server returns of its keys or rows. Every opening is closed then.
   * Without it the kit does not look there for what a rewrite or a deletion removed.
   */
  readonly bytes?: () => Awaitable<Uint8Array>;
  /**
   * Makes calls of the operating system fail, for every opening of this fixture in this process. Without it the cases with
   * failing calls are skipped.
   */
  readonly faults?: InjectedFaults;
  /**
   * A loss of power: ends every opening without closing it, and drops or reorders writes that were not synced, by the seed.
   * `reopen` then opens the remainder. Without it the cases with a loss of power are skipped.
   */
  readonly losePower?: (seed: number) => Awaitable<void>;
  /**
   * Does what another program can do to the file that keeps a dispatch, while the store has it open. Without it the cases with a
   * moved file are skipped.
   */
  readonly displace?: (way: Displacement, taskDir: string, dispatchId: string) => Awaitable<void>;
  /**
   * Copies or moves the storage of one dispatch to the place of another one, which it replaces, as a program does that copies a file, or
   * one that changes the key of a row. The store is closed meanwhile. Without it the cases with a log under another name are skipped.
   */
  readonly misplace?: (from: DispatchName, to: DispatchName) => Awaitable<void>;
  /**
   * What the storage has that is not part of a readable dispatch, a task or a claim, such as files or rows, found without the code of the store. After
   * each case, when every opening is closed and every process has exited, `findRemains` of a new opening must name each. Absent: that is not checked.
   */
  readonly census?: () => Awaitable<readonly string[]>;
  /** The server of the store, before which the kit puts its own proxy. Without it the cases of a network are skipped. */
  readonly network?: StoreNetwork;
  /**
   * The settings on which `durability: 'disk'` depends, as the server itself reports them, such as `{ fsync: 'on' }`. Without `losePower` the kit
   * prints them as claimed by the server, and does not certify that durability.
   */
  readonly serverSettings?: () => Awaitable<Readonly<Record<string, string>>>;
  /** Whether a server keeps the data. A case that fills the disk of a process is skipped then. */
  readonly hasServer?: boolean;
  /** Removes the data of the store. The kit has closed every opening before, and its other processes have exited. */
  readonly dispose: () => Awaitable<void>;
}

/** A server that a store reaches by TCP. */
interface StoreNetwork {
  readonly host: string;
  readonly port: number;
  /** Opens the data of the fixture by another address, which is that of the kit's proxy: without TLS, and with short time limits. */
  readonly open: (address: ServerAddress) => Awaitable<DispatchStoreProvider>;
  /** The same in another process. Without it the kit does not check that a process ends after `close`. */
  readonly elsewhere?: (address: ServerAddress) => StoreModule;
  /** The milliseconds after which each call of a store that `open` opened has failed if the server does not answer. Absent: 30,000. */
  readonly answerMs?: number;
  /** How much longer a busy machine may take, in milliseconds. Absent: 10,000. */
  readonly slackMs?: number;
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

interface DispatchName {
  readonly taskDir: string;
  readonly dispatchId: string;
}

/** `moved`: the file has another name. `replaced`: a copy of the file is in its place. */
export type Displacement = 'moved' | 'replaced';

/** Fails the calls that a system can fail in this way: such as EMFILE those that open a file, and ENOSPC those that write. */
export interface InjectedFaults {
  begin(fault: InjectedFault): void;
  /** Ends the fault. Returns the number of calls that failed. */
  end(): number;
}

export interface InjectedFault {
  /** The code of the failing calls. `short write`: a write that stores only the first part, and returns how many bytes that are. */
  readonly kind: 'EIO' | 'EMFILE' | 'ENOSPC' | 'short write';
  /** How many calls of those that can fail succeed before. */
  readonly after: number;
  /** Whether the calls after the first failing one fail too, as on a full disk. */
  readonly isLasting: boolean;
}

/** An ES module that opens the store: `export const openStore = (folder) => openMyStore(folder)`. */
export interface StoreModule {
  /** An absolute path or a `file:` URL. */
  readonly module: string | URL;
  /** The arguments of its `openStore`; JSON values. */
  readonly args: readonly JsonValue[];
}

/** The bytes that keep one dispatch: its file, or the file of a database. */
export interface StoredBytes {
  readonly bytes: Uint8Array;
  /**
   * Whether the bytes also keep what is not this dispatch, as the file of a database does. Then damage can also make the store refuse to
   * open (STORE_CORRUPT or STORE_UNAVAILABLE), everything else in it STORE_CORRUPT, and an accepted loss impossible. Absent: false.
   */
  readonly isShared?: boolean;
  /** Replaces the bytes. The length may differ. */
  write(bytes: Uint8Array): Awaitable<void>;
}
