/** Rows of a page. Pages begin at multiples of it, so that a place is always on the same page. */
export const pageSize = 100;

/** Rows of positions that follow each other. */
interface ReadRows<Row> {
  readonly first: number;
  readonly size: number;
  /** The position of the last event that the rows are made from. */
  readonly end: number;
  readonly rows: readonly Row[];
}

interface Slot<Row> {
  /** Null: the event belongs to an earlier row. */
  readonly row: Row | null;
  readonly end: number;
}

/** The rows that were read, by pages of positions. It keeps those that were used last. */
export class PageCache<Row extends { readonly position: number }> {
  readonly #pages = new Map<number, Slot<Row>[]>();
  readonly #mostPages: number;

  constructor(mostPages = 200) {
    this.#mostPages = mostPages;
  }

  /** Null: the event belongs to an earlier row. Undefined: not read. */
  get(position: number): Row | null | undefined {
    const page = this.#pages.get(Math.floor(position / pageSize));
    return page?.[position % pageSize]?.row;
  }

  /** Whether every position of a page is known that the log has now. */
  isComplete(page: number, count: number): boolean {
    const known = this.#pages.get(page)?.length ?? 0;
    return known >= Math.min(pageSize, count - page * pageSize);
  }

  /** Forgets the pages that have a position from this one on. */
  dropFrom(position: number): void {
    for (const page of [...this.#pages.keys()])
      if ((page + 1) * pageSize > position) this.#pages.delete(page);
  }

  /**
   * Adds positions that follow each other, and the rows that begin there. One whose page does not have the position before it is left out.
   * Rows of other positions take the place of those that are known. A row that was made from more of the log stays: the answer to a
   * question can arrive after rows that came live since.
   */
  add({ first, size, end, rows }: ReadRows<Row>): void {
    for (let position = first; position < first + size; position += 1) {
      const number = Math.floor(position / pageSize);
      const page = this.#pages.get(number) ?? [];
      this.#pages.delete(number);
      this.#pages.set(number, page);
      if (position % pageSize <= page.length) keepLater(page, position % pageSize, { row: null, end });
    }
    for (const row of rows) {
      const page = this.#pages.get(Math.floor(row.position / pageSize));
      const slot = row.position % pageSize;
      if (page !== undefined && slot < page.length) keepLater(page, slot, { row, end });
    }
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= this.#mostPages) break;
      this.#pages.delete(oldest);
    }
  }
}

function keepLater<Row>(page: Slot<Row>[], at: number, slot: Slot<Row>): void {
  if ((page[at]?.end ?? -1) <= slot.end) page[at] = slot;
}
