/** Time as a store and a run see it. A test brings its own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Acts once after so many milliseconds, unless the function that it gives back is called before. */
  after(ms: number, action: () => void): () => void;
}

/** The longest delay that a timer of Node can hold; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(ms, action) {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const delay = Math.min(left, longestTimer);
      timer = setTimeout(() => (left > delay ? arm(left - delay) : action()), delay);
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};
