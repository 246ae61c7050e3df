import type { Clock, StopWatching, WatchScope } from '@hansard/provider';
import { type MergedCalls, mergeCalls } from '@hansard/store-kit';
import type { ClientConfig } from 'pg';
import type { Tables } from '../database/tables.ts';
import { changeKey, everything, isInScope } from './change-keys.ts';
import { ListeningConnection } from './listening-connection.ts';
import { Notifier } from './notifier.ts';

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
