import type { StopWatching } from '@hansard/provider';
import { dispatchNotFound } from './find-dispatch.ts';
import type { Statements } from './statements.ts';

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
  readonly #statements: Statements;
  readonly #interval: number;
  readonly #watchers = new Set<Watcher>();
  readonly #due = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined;
  #dataVersion: number | undefined;

  constructor(statements: Statements, interval: number) {
    this.#statements = statements;
    this.#interval = interval;
  }

  /** @throws STORE_DISPATCH_NOT_FOUND */
  watch(taskDir: string, dispatchId: string, onChange: () => void): StopWatching {
    const fingerprint = this.#fingerprintOf(taskDir, dispatchId);
    if (fingerprint === undefined) throw dispatchNotFound(taskDir, dispatchId);
    const watcher = { taskDir, dispatchId, onChange, fingerprint };
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.#poll(), this.#interval).unref();
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
      const version = this.#statements.dataVersion.get()?.version;
      if (version === this.#dataVersion) return;
      for (const watcher of this.#watchers) {
        const fingerprint = this.#fingerprintOf(watcher.taskDir, watcher.dispatchId);
        if (fingerprint === watcher.fingerprint) continue;
        watcher.fingerprint = fingerprint;
        this.#tell(watcher);
      }
      this.#dataVersion = version;
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

  #fingerprintOf(taskDir: string, dispatchId: string): string | undefined {
    return this.#statements.fingerprint.get(taskDir, dispatchId)?.fingerprint;
  }
}
