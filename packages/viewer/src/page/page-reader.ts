import { type DispatchName, type Rows, readRows } from './api.ts';
import { pageSize } from './page-cache.ts';

interface PageListener {
  onRows(rows: Rows): void;
  onError(error: unknown): void;
}

/** Pages that are further away are no longer waited for. */
const nearPages = 2;

/** Reads pages of rows, each once at a time. */
export class PageReader {
  readonly #name: DispatchName;
  readonly #listener: PageListener;
  readonly #reading = new Map<number, AbortController>();

  constructor(name: DispatchName, listener: PageListener) {
    this.#name = name;
    this.#listener = listener;
  }

  /** Reads pages. `shown`: those in the window. */
  read(pages: readonly number[], shown: readonly number[]): void {
    for (const [page, reading] of this.#reading)
      if (shown.every((near) => Math.abs(page - near) > nearPages)) reading.abort();
    for (const page of pages) if (!this.#reading.has(page)) void this.#read(page);
  }

  close(): void {
    for (const reading of this.#reading.values()) reading.abort();
  }

  async #read(page: number): Promise<void> {
    const reading = new AbortController();
    this.#reading.set(page, reading);
    try {
      const rows = await readRows(this.#name, page * pageSize, pageSize, reading.signal);
      this.#reading.delete(page);
      if (!reading.signal.aborted) this.#listener.onRows(rows);
    } catch (error) {
      this.#reading.delete(page);
      if (!reading.signal.aborted) this.#listener.onError(error);
    }
  }
}
