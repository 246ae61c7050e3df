import type { ReaderRow } from '../answers.ts';
import type { RowOrder } from '../row-order.ts';

/** Pixels. Every row has the same height, so that a million of them need no measuring. */
export const rowHeight = 24;
/** Pixels. Browsers lay out no more than 17 to 33 million. */
const mostHeight = 8_000_000;

/**
 * What is shown: the number of places in the list, the height of the window in pixels, and the greatest place that the topmost row can
 * have. A place without a row, whose event belongs to an earlier row, takes no room in the window.
 */
interface View {
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

type Move = { readonly rows: number; readonly rest: number } | { readonly top: number };

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

/** Milliseconds without a movement of the scroll bar. */
const restMs = 200;

/**
 * The place of a list in its window. While the scroll bar moves, the topmost row follows it by rows. At rest the scroll bar is put where the
 * topmost row is: a change before would end the movement.
 */
export class ScrollPlace {
  place: Place = { top: 0, scrollTop: 0, rest: 0 };
  height = 0;
  /** Where the scroll bar was when it was last seen. */
  seen = 0;
  readonly #order: RowOrder<ReaderRow>;
  readonly #onRest: () => void;
  #isMoving = false;
  #resting: ReturnType<typeof setTimeout> | undefined;
  /** Where the scroll bar was before it was put elsewhere. A movement that began before can still come from there. */
  #before = Number.NaN;

  constructor(order: RowOrder<ReaderRow>, onRest: () => void) {
    this.#order = order;
    this.#onRest = onRest;
  }

  get view(): View {
    const { height } = this;
    return { count: this.#order.size, height, last: this.#order.lastTop(rowsInView({ height })) };
  }

  /** Whether a person moved the scroll bar. The event of one that was put elsewhere can come after another place was chosen. */
  isMovement(scrollTop: number): boolean {
    const { seen } = this;
    this.seen = scrollTop;
    return scrollTop !== seen && scrollTop !== this.place.scrollTop;
  }

  /** The place after the scroll bar moved. */
  moved(scrollTop: number): Place {
    clearTimeout(this.#resting);
    this.#isMoving = true;
    const isFar = Math.abs(scrollTop - this.place.scrollTop) > this.height;
    const isOld = isFar && Math.abs(scrollTop - this.#before) <= this.height;
    const from = isOld ? { ...this.place, scrollTop: this.#before } : this.place;
    this.#before = isOld ? scrollTop : isFar ? this.#before : Number.NaN;
    const move = movedTo(scrollTop, from, this.view);
    const top = 'top' in move ? move.top : this.#order.step(this.place.top, move.rows);
    return { top: Math.min(top, this.view.last), scrollTop, rest: 'top' in move ? 0 : move.rest };
  }

  /** The wheel turns: the scroll bar will move. */
  turned(): void {
    clearTimeout(this.#resting);
    if (this.#isMoving) this.rested();
  }

  /** The scroll bar stopped. */
  rested(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      this.#isMoving = false;
      this.#before = this.place.scrollTop;
      this.#onRest();
    }, restMs);
  }

  /** Another topmost row; it ends a movement. */
  jumped(top: number): Place {
    this.#isMoving = false;
    return placeOf(top, this.view);
  }

  /** Keeps the topmost row, or the end, after more rows or another height. */
  keep(isAtEnd: boolean): void {
    const { view } = this;
    const top = isAtEnd ? view.last : Math.min(this.place.top, view.last);
    this.place = this.#isMoving ? { ...this.place, top } : placeOf(top, view);
  }

  close(): void {
    clearTimeout(this.#resting);
  }
}
