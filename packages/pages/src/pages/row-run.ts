import type { Row } from '@hansard/views';

/** Rows in order, taken in runs. */
export class RowRun {
  readonly #rows: AsyncIterator<Row>;
  #next: IteratorResult<Row> | null = null;

  constructor(rows: AsyncIterable<Row>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  /** The position of the next row; null after the last one. */
  async nextPosition(): Promise<number | null> {
    this.#next ??= await this.#rows.next();
    return this.#next.done === true ? null : this.#next.value.position;
  }

  /** The next rows whose position is less. */
  async *upTo(position: number): AsyncGenerator<Row> {
    for (;;) {
      this.#next ??= await this.#rows.next();
      if (this.#next.done === true || this.#next.value.position >= position) return;
      const row = this.#next.value;
      this.#next = null;
      yield row;
    }
  }

  async close(): Promise<void> {
    await this.#rows.return?.();
  }
}
