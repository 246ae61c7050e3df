import type { StopWatching, WatchScope } from '@hansard/provider';

/** The listeners of `watch` in one opening of a store. */
export class ChangeListeners {
  /** By scope. */
  readonly #listeners = new Map<string, Set<MergedCalls>>();

  /** Whether nothing listens. Set here only: a store reads it after each append. */
  isEmpty = true;

  add(scope: WatchScope, onChange: () => void): StopWatching {
    const key = keyOf(scope);
    const calls = mergeCalls(onChange);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(calls));
    this.isEmpty = false;
    return () => {
      calls.stop();
      listeners.delete(calls);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
      this.isEmpty = this.#listeners.size === 0;
    };
  }

  /** Requests a call of each listener whose scope includes a dispatch, or without one the record of a task. */
  notify(taskDir: string, dispatchId?: string): void {
    if (this.isEmpty) return;
    this.#notify({});
    this.#notify({ taskDir });
    if (dispatchId !== undefined) this.#notify({ taskDir, dispatchId });
  }

  notifyAll(): void {
    for (const listeners of this.#listeners.values()) for (const calls of listeners) calls.notify();
  }

  /** Makes no further call. */
  stopAll(): void {
    for (const listeners of this.#listeners.values()) for (const calls of listeners) calls.stop();
    this.#listeners.clear();
    this.isEmpty = true;
  }

  #notify(scope: WatchScope): void {
    for (const calls of this.#listeners.get(keyOf(scope)) ?? []) calls.notify();
  }
}

/** No `taskDir` and no id contains a line feed. */
function keyOf({ taskDir = '', dispatchId }: WatchScope): string {
  return dispatchId === undefined ? taskDir : `${taskDir}\n${dispatchId}`;
}

/** Calls of one listener of `watch`. */
export interface MergedCalls {
  /** Requests a call. It is made in a microtask, after the write has returned; requests until then become one call. */
  notify(): void;
  /** Makes no further call, including one that was requested. */
  stop(): void;
}

/**
 * Merges the calls of a listener, as the contract allows. An exception of the listener cannot fail the write that caused
 * the call. The same function can listen several times, with an object for each.
 */
export function mergeCalls(listener: () => void): MergedCalls {
  let isRequested = false;
  let isStopped = false;
  return {
    notify() {
      if (isRequested) return;
      isRequested = true;
      queueMicrotask(() => {
        isRequested = false;
        if (!isStopped) listener();
      });
    },
    stop() {
      isStopped = true;
    },
  };
}
