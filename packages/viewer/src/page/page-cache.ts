/** Rows of a page. Pages begin at multiples of it, so that a place is always on the same page. */
export const pageSize = 100;
const mostPages = 200;

/** The rows that were read, by pages of positions. It keeps those that were used last. */
export class PageCache<Row extends { readonly position: number }> {
  readonly #pages = new Map<number, (Row | null)[]>();

  /** Null: the event belongs to an earlier row. Undefined: not read. */
  get(position: number): Row | null | undefined {
    const page = this.#pages.get(Math.floor(position / pageSize));
    return page?.[position % pageSize];
  }

  /** Whether every position of a page is known that the log has now. */
  isComplete(page: number, count: number): boolean {
    const known = this.#pages.get(page)?.length ?? 0;
    return known >= Math.min(pageSize, count - page * pageSize);
  }

  /**
   * Adds positions that follow each other, and the rows that begin there. One whose page does not have the position before it is left out.
   * Rows of other positions take the place of those that are known.
   */
  add(first: number, size: number, rows: readonly Row[]): void {
    for (let position = first; position < first + size; position += 1) {
      const number = Math.floor(position / pageSize);
      const page = this.#pages.get(number) ?? [];
      this.#pages.delete(number);
      this.#pages.set(number, page);
      if (position % pageSize <= page.length) page[position % pageSize] = null;
    }
    for (const row of rows) {
      const page = this.#pages.get(Math.floor(row.position / pageSize));
      const slot = row.position % pageSize;
      if (page !== undefined && slot < page.length) page[slot] = row;
    }
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= mostPages) break;
      this.#pages.delete(oldest);
    }
  }
}
