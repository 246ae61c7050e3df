import type { Clock, StopWatching, WatchScope } from '@hansard/provider';
import { dispatchNotFound, type MergedCalls, mergeCalls } from '@hansard/store-kit';
import type { Statements } from './database/statements.ts';
import type { StoreConnection } from './store-connection.ts';

interface Watcher {
  readonly scope: WatchScope;
  readonly calls: MergedCalls;
  /** The state of the dispatch when the timer last saw it; every event and every update changes it. Undefined for a larger scope. */
  fingerprint: string | undefined;
}

/**
 * Calls listeners when a dispatch changes. `changed` reports the writes of this store. For the writes of other stores, one
 * timer reads SQLite's data version while there is a listener.
 */
export class ChangeWatch {
  readonly #connection: StoreConnection;
  readonly #interval: number;
  readonly #clock: Clock;
  readonly #watchers = new Set<Watcher>();
  #cancelTimer: (() => void) | undefined;
  #seen: { readonly statements: Statements; readonly dataVersion: number | undefined } | undefined;

  constructor(connection: StoreConnection, interval: number, clock: Clock) {
    this.#connection = connection;
    this.#interval = interval;
    this.#clock = clock;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  watch(scope: WatchScope, onChange: () => void): StopWatching {
    const { taskDir, dispatchId } = scope;
    const fingerprint = this.#connection.use(({ statements }) => {
      // The changes that are made from now on.
      this.#seen ??= { statements, dataVersion: statements.dataVersion.get()?.version };
      return fingerprintOf(statements, scope);
    });
    if (taskDir !== undefined && dispatchId !== undefined && fingerprint === undefined)
      throw dispatchNotFound(taskDir, dispatchId);
    const watcher = { scope, calls: mergeCalls(onChange), fingerprint };
    this.#watchers.add(watcher);
    if (this.#cancelTimer === undefined) this.#pollLater();
    return () => {
      watcher.calls.stop();
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.stopAll();
    };
  }

  /** Without a dispatch, the record of the task was changed. */
  changed(taskDir: string, dispatchId: string | null): void {
    if (this.#watchers.size === 0) return;
    for (const { scope, calls } of this.#watchers) {
      if (scope.taskDir !== undefined && scope.taskDir !== taskDir) continue;
      if (scope.dispatchId === undefined || scope.dispatchId === dispatchId) calls.notify();
    }
  }

  stopAll(): void {
    for (const { calls } of this.#watchers) calls.stop();
    this.#watchers.clear();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#seen = undefined;
  }

  #pollLater(): void {
    this.#cancelTimer = this.#clock.after(this.#interval, () => {
      this.#pollLater();
      this.#poll();
    });
  }

  #poll(): void {
    try {
      const { statements } = this.#connection.current();
      const dataVersion = statements.dataVersion.get()?.version;
      if (statements === this.#seen?.statements && dataVersion === this.#seen.dataVersion) return;
      for (const watcher of this.#watchers) {
        const fingerprint = fingerprintOf(statements, watcher.scope);
        if (watcher.scope.dispatchId !== undefined && fingerprint === watcher.fingerprint) continue;
        watcher.fingerprint = fingerprint;
        watcher.calls.notify();
      }
      this.#seen = { statements, dataVersion };
    } catch {
      // A timer has no caller to throw to. The listeners read the store, and receive the same error there.
      for (const { calls } of this.#watchers) calls.notify();
    }
  }
}

function fingerprintOf(statements: Statements, { taskDir, dispatchId }: WatchScope): string | undefined {
  if (taskDir === undefined || dispatchId === undefined) return undefined;
  return statements.fingerprint.get(taskDir, dispatchId)?.fingerprint;
}
