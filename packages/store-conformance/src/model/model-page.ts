import type { DispatchListing, DispatchPage, ListDispatchesOptions, StoreError } from '@hansard/provider';

/** A page of these dispatches, without the code of a store. Its cursor is the text by which it sorts. */
export function modelPage(
  listings: readonly DispatchListing[],
  { taskDir, status, startedSince = '', order = 'oldest', after, limit = 1_000 }: ListDispatchesOptions,
  fail: (code: StoreError['code']) => never,
): DispatchPage {
  const inTask = listings.filter((listing) =>
    taskDir === undefined ? !listing.taskDir.startsWith('_hansard/') : listing.taskDir === taskDir,
  );
  const readable = inTask.filter(
    ({ envelope }) =>
      envelope !== null &&
      (status === undefined || status.includes(envelope.status)) &&
      envelope.startedAt >= startedSince,
  );
  const damaged = inTask.filter(({ envelope }) => envelope === null);
  const isAfter = (key: string) => {
    if (after === undefined) return true;
    const isDamaged = key.startsWith('damaged');
    if (isDamaged !== after.startsWith('damaged')) return isDamaged;
    return order === 'newest' && !isDamaged ? key < after : key > after;
  };
  const sorted = sortBy(readable, keyOf);
  const all = [...(order === 'newest' ? sorted.reverse() : sorted), ...sortBy(damaged, keyOf)];
  if (after !== undefined && !/^(damaged|\d{4}-\S+) [\da-f]+ \S+$/.test(after)) fail('STORE_INVALID_CURSOR');
  const rest = all.filter((listing) => isAfter(keyOf(listing)));
  const dispatches = rest.slice(0, limit);
  const last = dispatches.at(-1);
  const next = last === undefined || dispatches.length === rest.length ? null : keyOf(last);
  return { dispatches: structuredCloneOf(dispatches), next };
}

/** The order of bytes in hexadecimal is the order of bytes. */
function keyOf({ envelope, taskDir, dispatchId }: DispatchListing): string {
  return `${envelope?.startedAt ?? 'damaged'} ${Buffer.from(taskDir).toString('hex')} ${dispatchId}`;
}

function sortBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return items.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** The errors of damaged dispatches keep their class. */
function structuredCloneOf(listings: readonly DispatchListing[]): DispatchListing[] {
  return listings.map((listing) => ({ ...listing, envelope: structuredClone(listing.envelope) }));
}
