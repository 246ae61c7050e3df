import type { ReaderRow } from '../answers.ts';
import type { RowOrder } from '../row-order.ts';
import { movedTo, type Place, placeOf, rowsInView, type View } from './scroll-map.ts';

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
