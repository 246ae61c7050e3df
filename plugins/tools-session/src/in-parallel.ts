/** The results of a task for each item, in the order of the items. At most `limit` tasks run at the same time. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const waiting = items.entries();
  // The lanes share the iterator, so each item is taken once.
  const lane = async () => {
    for (const [index, item] of waiting) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
