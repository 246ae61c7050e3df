/** Pixels. Every row has the same height, so that a million of them need no measuring. */
export const rowHeight = 24;
/** Pixels. Browsers lay out no more than 17 to 33 million. */
const mostHeight = 8_000_000;

/** What is shown: the number of rows there are, and the height of the window in pixels. */
export interface View {
  readonly count: number;
  readonly height: number;
}

/** A place in the list: the number of the topmost row, which is the truth, and the scroll bar. */
export interface Place {
  readonly top: number;
  readonly scrollTop: number;
}

/** The height of all rows. With more than 333,333 rows a pixel of the scroll bar is more than a pixel of rows. */
export function heightOf({ count }: View): number {
  return Math.min(count * rowHeight, mostHeight);
}

/** How many whole rows the window shows. */
export function rowsInView({ height }: View): number {
  return Math.max(1, Math.floor(height / rowHeight));
}

/** The greatest number that the topmost row can have. */
export function lastTop(view: View): number {
  return Math.max(0, view.count - rowsInView(view));
}

/** The place whose topmost row is this one. */
export function placeOf(top: number, view: View): Place {
  const kept = Math.max(0, Math.min(lastTop(view), Math.round(top)));
  return { top: kept, scrollTop: isExact(view) ? kept * rowHeight : scale(kept, lastTop(view), span(view)) };
}

/**
 * The place after the scroll bar moved. A move within a window is exact: so many pixels are so many rows. A longer one, with the
 * thumb, goes to that part of the list.
 */
export function scrolledTo(scrollTop: number, from: Place, view: View): Place {
  const moved = scrollTop - from.scrollTop;
  const last = lastTop(view);
  const top = isExact(view)
    ? Math.round(scrollTop / rowHeight)
    : Math.abs(moved) > view.height
      ? Math.round(scale(scrollTop, span(view), last))
      : from.top + Math.round(moved / rowHeight);
  return { top: Math.max(0, Math.min(last, top)), scrollTop };
}

function isExact({ count }: View): boolean {
  return count * rowHeight <= mostHeight;
}

/** How far the scroll bar goes. */
function span(view: View): number {
  return Math.max(0, heightOf(view) - view.height);
}

function scale(value: number, of: number, to: number): number {
  return of === 0 ? 0 : (value / of) * to;
}
