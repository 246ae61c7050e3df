import type { StopWatching } from '@hansard/provider';
import type { Statements } from './database/statements.ts';
import { dispatchNotFound } from './events/find-dispatch.ts';
import type { StoreConnection } from './store-connection.ts';

interface Watcher {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly onChange: () => void;
  /** What the dispatch looked like when the watcher was last told; changes with every event and update. */
  fingerprint: string | undefined;
}

/**
 * Tells listeners that a dispatch changed. What this store does it is told by `changed`; what others do it sees in
 * SQLite's data version, which one timer reads while somebody listens.
 */
export class ChangeWatch {
  readonly #connection: StoreConnection;
  readonly #interval: number;
  readonly #watchers = new Set<Watcher>();
  readonly #due = new Set<Watcher>();
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
    const watcher = { taskDir, dispatchId, onChange, fingerprint };
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#poll(), this.#interval);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.stopAll();
    };
  }

  changed(taskDir: string, dispatchId: string): void {
    if (this.#watchers.size === 0) return;
    for (const watcher of this.#watchers) {
      if (watcher.dispatchId === dispatchId && watcher.taskDir === taskDir) this.#tell(watcher);
    }
  }

  stopAll(): void {
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
        this.#tell(watcher);
      }
      this.#seen = { statements, dataVersion };
    } catch {
      // Whoever reads now meets the same error, and can answer to it; a timer can't.
      for (const watcher of this.#watchers) this.#tell(watcher);
    }
  }

  /** Calls a listener once the caller's own work is done, however often it was asked to meanwhile. */
  #tell(watcher: Watcher): void {
    if (this.#due.has(watcher)) return;
    this.#due.add(watcher);
    queueMicrotask(() => {
      this.#due.delete(watcher);
      if (this.#watchers.has(watcher)) watcher.onChange();
    });
  }
}

function fingerprintOf(statements: Statements, taskDir: string, dispatchId: string): string | undefined {
  return statements.fingerprint.get(taskDir, dispatchId)?.fingerprint;
}
