import type { Clock, StopWatching, WatchScope } from '@hansard/provider';
import { checksumOf, encodeChecksum, type MergedCalls, mergeCalls } from '@hansard/store-kit';
import { Client, type ClientConfig } from 'pg';
import { isConnectionUsable } from './database/postgres-errors.ts';
import type { Tables } from './database/tables.ts';

/** Milliseconds: the time in which a notification of our own must arrive. */
const testMs = 1_000;

/** Milliseconds between two checks that the server still answers. */
const checkMs = 5_000;

/** Milliseconds. The changes of this time become one notification. */
const mergeMs = 20;

/** The greatest number of keys that fit into a notification. */
const mostKeys = 440;

export interface ChangeWatchSetup {
  readonly tables: Tables;
  /** Where to listen: the server itself, if the store uses a pooler. Null: never listen. */
  readonly listen: ClientConfig | null;
  readonly channel: string;
  /** Milliseconds between two looks where notifications do not arrive. */
  readonly pollInterval: number;
  readonly clock: Clock;
}

interface Watcher {
  readonly scope: WatchScope;
  readonly calls: MergedCalls;
  fingerprint: string | null;
}

/** Milliseconds between two tries to connect again. */
const firstPause = 100;

const longestPause = 2_000;

/**
 * Calls listeners when a dispatch, a task or the store changes. Changes of this opening are reported at once, those of others by one
 * connection that listens. While it is away, listeners are called after each try to connect, and once it is back, because anything may
 * have been missed. Where notifications do not arrive, the scopes are read at intervals instead.
 */
export class ChangeWatch {
  readonly #setup: ChangeWatchSetup;
  readonly #notifier: Notifier;
  readonly #watchers = new Set<Watcher>();
  #connection: ListeningConnection | null = null;
  #starting: Promise<void> | null = null;
  #isPolling = false;
  #isClosed = false;
  #cancelTimer: () => void = () => {};

  constructor(setup: ChangeWatchSetup) {
    this.#setup = setup;
    this.#notifier = new Notifier(setup.tables, setup.channel, setup.clock);
  }

  /** Resolves when changes are reported. @throws an error of the connection */
  async watch(scope: WatchScope, onChange: () => void): Promise<StopWatching> {
    const watcher: Watcher = { scope, calls: mergeCalls(onChange), fingerprint: null };
    this.#watchers.add(watcher);
    const stop = () => {
      watcher.calls.stop();
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#end();
    };
    try {
      await this.#start();
      if (this.#isPolling) watcher.fingerprint = await this.#fingerprint(scope);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  /** A change of this opening. `dispatchId` is null for the record of a task. */
  changed(taskDir: string, dispatchId: string | null): void {
    this.#notifier.changed(taskDir, dispatchId);
    if (this.#watchers.size > 0) this.#call(changeKey(taskDir, dispatchId));
  }

  /** Sends the last notification, and calls no listener from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { calls } of this.#watchers) calls.stop();
    this.#watchers.clear();
    this.#end();
    await this.#notifier.flush();
  }

  #call(key: string): void {
    for (const { scope, calls } of this.#watchers) if (isInScope(key, scope)) calls.notify();
  }

  async #start(): Promise<void> {
    if (this.#connection !== null || this.#isPolling) return;
    this.#starting ??= this.#connect().finally(() => {
      this.#starting = null;
    });
    await this.#starting;
  }

  async #connect(): Promise<void> {
    const { listen, channel, clock, tables } = this.#setup;
    const connection =
      listen === null
        ? null
        : await ListeningConnection.open({
            client: listen,
            channel,
            clock,
            notify: async (payload) => {
              await tables.database.run(tables.statements.notify, [channel, payload]);
            },
            onNotification: (payload) => {
              for (const key of payload.split(',')) this.#call(key);
            },
            onLost: () => {
              this.#connection = null;
              this.#connectLater(firstPause);
            },
          });
    if (this.#isClosed || this.#watchers.size === 0) connection?.close();
    else if (connection !== null) this.#connection = connection;
    else this.#pollLater();
  }

  #connectLater(pause: number): void {
    if (this.#watchers.size === 0) return;
    this.#cancelTimer = this.#setup.clock.after(pause, () => {
      this.#start().then(
        () => this.#call(everything),
        () => {
          this.#call(everything);
          this.#connectLater(Math.min(2 * pause, longestPause));
        },
      );
    });
  }

  #pollLater(): void {
    this.#isPolling = true;
    this.#cancelTimer = this.#setup.clock.after(this.#setup.pollInterval, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    for (const watcher of [...this.#watchers]) {
      try {
        const fingerprint = await this.#fingerprint(watcher.scope);
        if (fingerprint === watcher.fingerprint) continue;
        watcher.fingerprint = fingerprint;
      } catch {
        // A timer has no caller to throw to. The listener reads the store, and receives the same error there.
      }
      watcher.calls.notify();
    }
    if (this.#watchers.size > 0) this.#pollLater();
  }

  async #fingerprint({ taskDir, dispatchId }: WatchScope): Promise<string> {
    const { tables } = this.#setup;
    const values = [taskDir ?? null, dispatchId ?? null];
    const [row] = await tables.rows(tables.statements.fingerprint, values);
    return row?.fingerprint ?? '';
  }

  #end(): void {
    this.#cancelTimer();
    this.#connection?.close();
    this.#connection = null;
    this.#isPolling = false;
  }
}

/**
 * Sends the changes of this opening to the other ones. Merged, and outside the transactions that append: a transaction that notifies
 * holds a lock of the whole server until its commit is on the disk, so that writers of different dispatches would wait for each other.
 */
class Notifier {
  readonly #tables: Tables;
  readonly #channel: string;
  readonly #clock: Clock;
  readonly #pending = new Set<string>();
  #isDue = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(tables: Tables, channel: string, clock: Clock) {
    this.#tables = tables;
    this.#channel = channel;
    this.#clock = clock;
  }

  changed(taskDir: string, dispatchId: string | null): void {
    this.#pending.add(changeKey(taskDir, dispatchId));
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.after(mergeMs, () => void this.flush(), { keepsProcess: false });
  }

  /** Sends what was not sent yet. */
  flush(): Promise<void> {
    this.#isDue = false;
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  async #send(): Promise<void> {
    if (this.#pending.size === 0) return;
    const payload = this.#pending.size > mostKeys ? everything : [...this.#pending].join(',');
    this.#pending.clear();
    try {
      await this.#tables.database.run(this.#tables.statements.notify, [this.#channel, payload]);
    } catch {
      // A timer has no caller to throw to. Listeners look again after a lost connection.
    }
  }
}

interface ListeningConnectionSetup {
  readonly client: ClientConfig;
  readonly channel: string;
  readonly clock: Clock;
  /** Sends a notification through another connection. */
  readonly notify: (payload: string) => Promise<void>;
  /** A notification of another opening. */
  readonly onNotification: (payload: string) => void;
  /** The connection ended. */
  readonly onLost: () => void;
}

/** One connection that listens to a channel. It reports its end once. */
class ListeningConnection {
  readonly #client: Client;
  readonly #setup: ListeningConnectionSetup;
  #cancelCheck: () => void = () => {};
  #hasEnded = false;

  private constructor(setup: ListeningConnectionSetup) {
    this.#setup = setup;
    this.#client = new Client({ ...setup.client, query_timeout: checkMs, keepAlive: true });
  }

  /**
   * Connects and listens. Returns null if LISTEN is refused, or accepted and notifications do not arrive, as through a pooler that
   * gives each transaction another connection.
   */
  static async open(setup: ListeningConnectionSetup): Promise<ListeningConnection | null> {
    const connection = new ListeningConnection(setup);
    try {
      return (await connection.#start()) ? connection : null;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  close(): void {
    this.#hasEnded = true;
    this.#cancelCheck();
    // At once: what arrives from now on is of no use.
    this.#client.end().catch(() => {});
    streamOf(this.#client)?.destroy();
  }

  async #start(): Promise<boolean> {
    const { channel, notify } = this.#setup;
    const test = `test ${crypto.randomUUID()}`;
    let hasArrived = (_: boolean): void => {};
    const arrival = new Promise<boolean>((resolve) => {
      hasArrived = resolve;
    });
    this.#client.on('error', () => this.#lost());
    this.#client.on('end', () => this.#lost());
    this.#client.on('notification', ({ payload = '' }) => {
      if (payload === test) hasArrived(true);
      else if (!payload.startsWith('test ')) this.#setup.onNotification(payload);
    });
    await this.#client.connect();
    if (!(await this.#listen(channel))) return false;
    await notify(test);
    const cancel = this.#setup.clock.after(testMs, () => hasArrived(false));
    const isUsable = await arrival;
    cancel();
    if (isUsable) this.#checkLater();
    else this.close();
    return isUsable;
  }

  async #listen(channel: string): Promise<boolean> {
    try {
      await this.#client.query(`LISTEN "${channel}"`);
      return true;
    } catch (error) {
      if (!isConnectionUsable(error)) throw error;
      this.close();
      return false;
    }
  }

  /** A host that disappeared sends nothing, so only a question shows that it is away. */
  #checkLater(): void {
    this.#cancelCheck = this.#setup.clock.after(
      checkMs,
      () => {
        this.#client.query('SELECT 1').then(
          () => this.#hasEnded || this.#checkLater(),
          () => this.#lost(),
        );
      },
      { keepsProcess: false },
    );
  }

  #lost(): void {
    if (this.#hasEnded) return;
    this.close();
    this.#setup.onLost();
  }
}

/** The socket, which `pg` does not declare. */
function streamOf(client: Client): { destroy(): void } | undefined {
  return (client as unknown as { connection?: { stream?: { destroy(): void } } }).connection?.stream;
}

/** Stands for a change of anything, in a notification that would be too long otherwise. */
const everything = '*';

/**
 * The key of a change in a notification: the checksums of the task and of the dispatch. A notification has at most 7,999 bytes, and
 * names are longer. Two names with one checksum only cause a call too many.
 */
function changeKey(taskDir: string, dispatchId: string | null): string {
  const task = encodeChecksum(checksumOf(taskDir));
  return dispatchId === null ? `${task}:` : `${task}:${encodeChecksum(checksumOf(dispatchId))}`;
}

/** Whether the change with a key is in a scope. */
function isInScope(key: string, { taskDir, dispatchId }: WatchScope): boolean {
  if (key === everything || taskDir === undefined) return true;
  return dispatchId === undefined
    ? key.startsWith(changeKey(taskDir, null))
    : key === changeKey(taskDir, dispatchId);
}
