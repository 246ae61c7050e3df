/** Rows of a page. Pages begin at multiples of it, so that a place is always on the same page. */
export const pageSize = 100;
const mostPages = 200;

/** The rows that were read, by pages. It keeps those that were used last. */
export class PageCache<Row> {
  readonly #pages = new Map<number, Row[]>();

  get(position: number): Row | undefined {
    const page = this.#pages.get(Math.floor(position / pageSize));
    return page?.[position % pageSize];
  }

  /** Whether every row of a page is known that the list has now. */
  isComplete(page: number, count: number): boolean {
    const known = this.#pages.get(page)?.length ?? 0;
    return known >= Math.min(pageSize, count - page * pageSize);
  }

  /** Adds rows that follow each other. One whose page does not have the row before it is left out. */
  add(first: number, rows: readonly Row[]): void {
    for (const [at, row] of rows.entries()) {
      const position = first + at;
      const number = Math.floor(position / pageSize);
      const page = this.#pages.get(number) ?? [];
      this.#pages.delete(number);
      this.#pages.set(number, page);
      if (position % pageSize < page.length) page[position % pageSize] = row;
      else if (position % pageSize === page.length) page.push(row);
    }
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= mostPages) break;
      this.#pages.delete(oldest);
    }
  }

  clear(): void {
    this.#pages.clear();
  }
}
