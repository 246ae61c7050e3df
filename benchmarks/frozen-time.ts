/** Milliseconds that a frozen clock is ahead, so that what was made before counts as old. */
const ahead = 1_000;

const [realNow, realMonotonic] = [Date.now, performance.now.bind(performance)];
let frozen: { readonly wall: number; readonly monotonic: number } | null = null;

// Packages keep the functions that they find when they are loaded, so this module must be imported before them.
Date.now = () => frozen?.wall ?? realNow();
performance.now = () => frozen?.monotonic ?? realMonotonic();

/** Stops both clocks of this process, until `thawTime`. */
export function freezeTime(): void {
  frozen = { wall: realNow() + ahead, monotonic: realMonotonic() + ahead };
}

export function thawTime(): void {
  frozen = null;
}
