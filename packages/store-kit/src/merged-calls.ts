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
