import { base64Of, bytesOfBase64 } from '@hansard/events';
import {
  type DispatchEnvelope,
  type DispatchListing,
  type ListDispatchesOptions,
  type ReadEventsOptions,
  type StoreError,
  storeErrors,
} from '@hansard/provider';
import { cursorAfterEnd } from './store-refusals.ts';

/** What decides the place of a dispatch in a listing. */
export interface ListingKey {
  readonly taskDir: string;
  readonly dispatchId: string | null;
  /** '': its `startedAt` is null. Null: the dispatch cannot be read. */
  readonly startedAt: string | null;
}

type Listed = Pick<DispatchListing, 'taskDir' | 'dispatchId'> & {
  readonly envelope: Pick<DispatchEnvelope, 'startedAt' | 'status'> | null;
};

/**
 * The page that `listDispatches` returns, from a complete list of the dispatches in any order. Enough for a store that can list
 * all its dispatches quickly. The entries are returned as they are, so that a store can read their last events afterwards.
 * @throws STORE_INVALID_CURSOR
 */
export function pageOfDispatches<Entry extends Listed>(
  entries: Iterable<Entry>,
  { taskDir, status, startedSince, order = 'oldest', after, limit = defaultPageLimit }: ListDispatchesOptions,
): { dispatches: Entry[]; next: string | null } {
  const compare = (left: ListingKey, right: ListingKey) => compareListings(left, right, order);
  const last = after === undefined ? null : readListingCursor(after);
  const keyed = [];
  for (const entry of entries) {
    const key = keyOf(entry);
    if (taskDir !== undefined && entry.taskDir !== taskDir) continue;
    if (entry.envelope !== null) {
      if (status !== undefined && !status.includes(entry.envelope.status)) continue;
      if (startedSince !== undefined && placeInTime(entry.envelope) < startedSince) continue;
    }
    if (last === null || compare(key, last) > 0) keyed.push({ entry, key });
  }
  keyed.sort((left, right) => compare(left.key, right.key));
  const page = keyed.slice(0, limit);
  const end = page.at(-1);
  return {
    dispatches: page.map(({ entry }) => entry),
    next: end === undefined || page.length === keyed.length ? null : listingCursor(end.key),
  };
}

/** The order of `listDispatches`, for `sort`. */
export function compareListings(
  left: ListingKey,
  right: ListingKey,
  order: ListDispatchesOptions['order'] = 'oldest',
): number {
  if (left.startedAt === null || right.startedAt === null) {
    if (left.startedAt !== right.startedAt) return left.startedAt === null ? 1 : -1;
    return compareNames(left, right);
  }
  const ascending = compareText(left.startedAt, right.startedAt) || compareNames(left, right);
  return order === 'newest' ? -ascending : ascending;
}

/** The `next` of a page whose last dispatch has this place. */
export function listingCursor({ startedAt, taskDir, dispatchId }: ListingKey): string {
  const bytes = new TextEncoder().encode(JSON.stringify([startedAt, taskDir, dispatchId]));
  return base64Of(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The place that {@link listingCursor} wrote. @throws STORE_INVALID_CURSOR */
export function readListingCursor(after: string): ListingKey {
  let parts: unknown;
  try {
    parts = JSON.parse(new TextDecoder().decode(bytesOfBase64(after)));
  } catch {
    throw invalidCursor(after);
  }
  if (!Array.isArray(parts) || parts.length !== 3) throw invalidCursor(after);
  const [startedAt, taskDir, dispatchId] = parts as unknown[];
  if (!isTextOrNull(startedAt) || typeof taskDir !== 'string' || !isTextOrNull(dispatchId))
    throw invalidCursor(after);
  return { startedAt, taskDir, dispatchId };
}

function invalidCursor(after: string): StoreError {
  return storeErrors.error(
    'STORE_INVALID_CURSOR',
    `${JSON.stringify(after)} is not the \`next\` of a page of dispatches. Continue after the \`next\` of an earlier page, or begin without \`after\`.`,
    { details: { after } },
  );
}

function keyOf({ taskDir, dispatchId, envelope }: Listed): ListingKey {
  return { taskDir, dispatchId, startedAt: envelope === null ? null : placeInTime(envelope) };
}

/** What orders a readable dispatch by its start: '', before every time, if that is not recorded. */
export function placeInTime({ startedAt }: Pick<DispatchEnvelope, 'startedAt'>): string {
  return startedAt ?? '';
}

function compareNames(left: ListingKey, right: ListingKey): number {
  // Not `<`, which orders some characters by the halves of their UTF-16 form. A database orders by bytes.
  const byTask = left.taskDir === right.taskDir ? 0 : compareBytes(left.taskDir, right.taskDir);
  return byTask || compareText(left.dispatchId ?? '', right.dispatchId ?? '');
}

/** By the bytes of UTF-8, which is the order of the characters. */
function compareBytes(left: string, right: string): number {
  const theirs = [...right];
  for (const [at, character] of [...left].entries()) {
    const other = theirs[at];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) < (other.codePointAt(0) ?? 0) ? -1 : 1;
  }
  return -1;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

/** The most bytes of a page, as JSON, whatever its limit. A page has at least one event. */
export const mostPageBytes = 8 * 1024 * 1024;

/** How many events of a page fit into it. `sizes`: the bytes of each event of the page, as many as were asked for. */
export function countOfPage(sizes: Iterable<number>): number {
  let bytes = 0;
  let count = 0;
  for (const size of sizes) {
    bytes += size;
    if (count > 0 && bytes > mostPageBytes) return count;
    count += 1;
  }
  return count;
}

/** The `limit` of a page if the caller gives none. */
export const defaultPageLimit = 1_000;

/**
 * The positions that `readEvents` returns from a dispatch with `count` events.
 * @throws STORE_INVALID_CURSOR
 */
export function pageRange(
  count: number,
  options: ReadEventsOptions = {},
): {
  readonly first: number;
  readonly end: number;
} {
  const { after = -1, limit = defaultPageLimit, last } = options;
  if (last !== undefined) return { first: Math.max(0, count - last), end: count };
  const first = after + 1;
  if (first > count) throw cursorAfterEnd(after, count);
  return { first, end: Math.min(count, first + limit) };
}
