/** Time as the loader sees it; a test brings its own. */
export interface LoadClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls back once after so many milliseconds, unless the function that it gives back is called before. */
  setTimer(callback: () => void, milliseconds: number): () => void;
}

export const systemClock: LoadClock = {
  now: () => performance.now(),
  setTimer: (callback, milliseconds) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
