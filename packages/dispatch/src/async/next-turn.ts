/** Resolves in the next turn of the event loop, so that timers and signals come first. Not `setImmediate` of Node alone, which a page does not have. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
