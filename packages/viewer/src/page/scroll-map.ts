/** Pixels. Every row has the same height, so that a million of them need no measuring. */
export const rowHeight = 24;
/** Pixels. Browsers lay out no more than 17 to 33 million. */
const mostHeight = 8_000_000;

/**
 * What is shown: the number of places in the list, the height of the window in pixels, and the greatest place that the topmost row can
 * have. A place without a row, whose event belongs to an earlier row, takes no room in the window.
 */
export interface View {
  readonly count: number;
  readonly height: number;
  readonly last: number;
}

/** A place in the list: that of the topmost row, which is the truth, and the scroll bar. */
export interface Place {
  readonly top: number;
  readonly scrollTop: number;
  /** Pixels that the scroll bar moved and that are not a whole row yet. */
  readonly rest: number;
}

/** The height of all places. With more than 333,333 a pixel of the scroll bar is more than a pixel of rows. */
export function heightOf({ count }: Pick<View, 'count'>): number {
  return Math.min(count * rowHeight, mostHeight);
}

/** How many whole rows the window shows. */
export function rowsInView({ height }: Pick<View, 'height'>): number {
  return Math.max(1, Math.floor(height / rowHeight));
}

/** The place of a topmost row, with the scroll bar at the same part of its length. */
export function placeOf(top: number, view: View): Place {
  const kept = Math.max(0, Math.min(view.last, Math.round(top)));
  return { top: kept, scrollTop: scale(kept, view.last, span(view)), rest: 0 };
}

export type Move = { readonly rows: number; readonly rest: number } | { readonly top: number };

/**
 * What a move of the scroll bar means. A move within a window is exact: a number of pixels is a number of rows. A longer one, with the
 * thumb, goes to that part of the list.
 */
export function movedTo(scrollTop: number, from: Place, view: View): Move {
  const moved = scrollTop - from.scrollTop;
  if (Math.abs(moved) > view.height) return { top: Math.round(scale(scrollTop, span(view), view.last)) };
  const rows = Math.round((moved + from.rest) / rowHeight);
  return { rows, rest: moved + from.rest - rows * rowHeight };
}

/** How far the scroll bar goes. */
function span(view: View): number {
  return Math.max(0, heightOf(view) - view.height);
}

function scale(value: number, of: number, to: number): number {
  return of === 0 ? 0 : (value / of) * to;
}
