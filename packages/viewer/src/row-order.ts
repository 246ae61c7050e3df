import { PageCache } from './page-cache.ts';

/** A row of the window; undefined while it is read. */
export interface ShownRow<Row> {
  readonly place: number;
  readonly position: number;
  readonly row: Row | undefined;
}

/** The rows in the order of the list. A place of the list is a position of the log, or, of found rows, a number from 0. */
export class RowOrder<Row extends { readonly position: number }> {
  readonly rows: PageCache<Row>;
  /** How many events the log has; null: not known yet. */
  count: number | null = null;
  /** The positions of the only rows that are shown; null: all are. */
  hits: readonly number[] | null = null;

  /** `mostPages`: as of a `PageCache`. */
  constructor(mostPages?: number) {
    this.rows = new PageCache(mostPages);
  }

  /** How many places there are. */
  get size(): number {
    return this.hits?.length ?? this.count ?? 0;
  }

  positionAt(place: number): number {
    return this.hits === null ? place : (this.hits[place] ?? 0);
  }

  /** The place of the row that has a position; of found rows, the last one up to it. */
  placeOf(position: number): number {
    if (this.hits !== null)
      return Math.max(
        0,
        this.hits.findLastIndex((hit) => hit <= position),
      );
    let at = Math.max(0, Math.min(this.size - 1, position));
    while (at > 0 && this.rows.get(at) === null) at -= 1;
    return at;
  }

  /** The position of the row that has an event, as far as rows are read. */
  rowWith(position: number): number {
    return this.size === 0 ? position : this.positionAt(this.placeOf(position));
  }

  /** The place that is `rows` rows further. A place that is not read counts as a row. */
  step(from: number, rows: number): number {
    const step = Math.sign(rows);
    let at = from;
    for (let left = Math.abs(rows); left > 0; ) {
      const next = at + step;
      if (next < 0 || next >= this.size) break;
      at = next;
      if (this.#hasRoom(at)) left -= 1;
    }
    // The last places can belong to an earlier row.
    while (at > 0 && !this.#hasRoom(at)) at -= 1;
    return at;
  }

  /** The topmost place of a window of `rows` rows at the end. */
  lastTop(rows: number): number {
    return Math.max(0, this.step(this.size, -rows));
  }

  /** The first `most` rows from a place on. */
  window(top: number, most: number): readonly ShownRow<Row>[] {
    const shown: ShownRow<Row>[] = [];
    for (let place = top; place < this.size && shown.length < most; place += 1) {
      const position = this.positionAt(place);
      if (this.#hasRoom(place)) shown.push({ place, position, row: this.rows.get(position) ?? undefined });
    }
    return shown;
  }

  #hasRoom(place: number): boolean {
    return this.hits !== null || this.rows.get(place) !== null;
  }
}
