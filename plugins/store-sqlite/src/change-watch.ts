import type { StopWatching } from '@hansard/provider';
import { dispatchNotFound, type MergedCalls, mergeCalls } from '@hansard/store-kit';
import type { Statements } from './database/statements.ts';
import type { StoreConnection } from './store-connection.ts';

interface Watcher {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly calls: MergedCalls;
  /** The state of the dispatch when the timer last saw it; every event and every update changes it. */
  fingerprint: string | undefined;
}

/**
 * Calls listeners when a dispatch changes. `changed` reports the writes of this store. For the writes of other stores, one
 * timer reads SQLite's data version while there is a listener.
 */
export class ChangeWatch {
  readonly #connection: StoreConnection;
  readonly #interval: number;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;
  #seen: { readonly statements: Statements; readonly dataVersion: number | undefined } | undefined;

  constructor(connection: StoreConnection, interval: number) {
    this.#connection = connection;
    this.#interval = interval;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  watch(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    const fingerprint = this.#connection.use(({ statements }) =>
      fingerprintOf(statements, taskDir, dispatchId),
    );
    if (fingerprint === undefined) throw dispatchNotFound(taskDir, dispatchId);
    const watcher = { taskDir, dispatchId, calls: mergeCalls(onChange), fingerprint };
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#poll(), this.#interval);
    return () => {
      watcher.calls.stop();
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.stopAll();
    };
  }

  changed(taskDir: string, dispatchId: string): void {
    if (this.#watchers.size === 0) return;
    for (const watcher of this.#watchers) {
      if (watcher.dispatchId === dispatchId && watcher.taskDir === taskDir) watcher.calls.notify();
    }
  }

  stopAll(): void {
    for (const { calls } of this.#watchers) calls.stop();
    this.#watchers.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    try {
      const { statements } = this.#connection.current();
      const dataVersion = statements.dataVersion.get()?.version;
      if (statements === this.#seen?.statements && dataVersion === this.#seen.dataVersion) return;
      for (const watcher of this.#watchers) {
        const fingerprint = fingerprintOf(statements, watcher.taskDir, watcher.dispatchId);
        if (fingerprint === watcher.fingerprint) continue;
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

function fingerprintOf(statements: Statements, taskDir: string, dispatchId: string): string | undefined {
  return statements.fingerprint.get(taskDir, dispatchId)?.fingerprint;
}
