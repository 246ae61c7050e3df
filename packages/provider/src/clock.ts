/** Time. Whatever waits or measures takes a clock, so that a test can bring its own. */
export interface Clock {
  /** Milliseconds since 1970. A correction of the system's clock shows here. */
  now(): number;
  /** Milliseconds since some start; they never go back. For durations. */
  monotonic(): number;
  /**
   * Calls `action` once, after `ms` milliseconds, unless the function that it returns is called before. A timer keeps the
   * process running, unless `keepsProcess` is false.
   */
  after(ms: number, action: () => void, options?: { readonly keepsProcess?: boolean }): () => void;
}

/** The longest delay that a timer of Node supports; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, action, { keepsProcess = true } = {}) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number) => {
      const delay = Math.min(left, longestTimer);
      timer = setTimeout(() => (left > delay ? arm(left - delay) : action()), delay);
      if (!keepsProcess) timer.unref();
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};
