import type { ReadEventsOptions } from '@hansard/provider';
import { cursorAfterEnd } from './store-refusals.ts';

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
