import { pageSize } from '../page-cache.ts';
import { type DispatchName, type Rows, readRows } from './api.ts';

interface PageListener {
  onRows(rows: Rows): void;
  onError(error: unknown): void;
}

/** Pages that are further away are no longer waited for. */
const nearPages = 2;

/** The most pages of a request. The server reads the events around a request, which cost more than a second page. */
const mostPages = 3;

/** Reads pages of rows, each once at a time, those that follow each other together. */
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
    const isNear = (page: number) => shown.some((near) => Math.abs(page - near) <= nearPages);
    const needed = new Set([...this.#reading].filter(([page]) => isNear(page)).map(([, reading]) => reading));
    for (const reading of this.#reading.values()) if (!needed.has(reading)) reading.abort();
    const runs: number[][] = [];
    for (const page of pages
      .filter((wanted) => !this.#reading.has(wanted))
      .sort((one, other) => one - other)) {
      const run = runs.at(-1);
      if (run !== undefined && run.at(-1) === page - 1 && run.length < mostPages) run.push(page);
      else runs.push([page]);
    }
    for (const run of runs) void this.#read(run);
  }

  close(): void {
    for (const reading of this.#reading.values()) reading.abort();
  }

  async #read(run: readonly number[]): Promise<void> {
    const reading = new AbortController();
    const [first = 0] = run;
    for (const page of run) this.#reading.set(page, reading);
    const done = () => {
      for (const page of run) this.#reading.delete(page);
    };
    try {
      const count = run.length * pageSize;
      const rows = await readRows(this.#name, first * pageSize, count, reading.signal);
      done();
      if (!reading.signal.aborted) this.#listener.onRows(rows);
    } catch (error) {
      done();
      if (!reading.signal.aborted) this.#listener.onError(error);
    }
  }
}
