/** Iterates over a generator that may be left while it waits. A waiting generator does not handle `return`, so it is woken first. */
export function leavableIterator<T>(
  items: AsyncGenerator<T, undefined>,
  wake: () => void,
): AsyncIterator<T, undefined> {
  return {
    next: () => items.next(),
    return: () => {
      wake();
      return items.return(undefined);
    },
  };
}
