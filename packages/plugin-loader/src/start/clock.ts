/** The clock of the loader. Tests pass their own. */
export interface LoadClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls back once after this time, unless the returned function is called before. */
  setTimer(callback: () => void, milliseconds: number): () => void;
}

export const systemClock: LoadClock = {
  now: () => performance.now(),
  setTimer: (callback, milliseconds) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
