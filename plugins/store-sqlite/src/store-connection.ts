import { releaseAll } from './claimed-dispatches.ts';
import { createDatabase } from './database/create-database.ts';
import type { OpenedDatabase } from './database/open-database.ts';
import { type ConnectionOptions, type OpenedParts, openParts, type StoreParts } from './store-parts.ts';

/** Appends check at this interval, in milliseconds, that the file is at its path. A check costs a tenth of an append. */
const checkInterval = 50;

/** The database of a store, opened again if another one is at its path. Created by {@link openConnection}. */
export class StoreConnection {
  readonly #options: ConnectionOptions;
  #opened: OpenedDatabase;
  #parts: StoreParts;

  constructor(options: ConnectionOptions, { opened, parts }: OpenedParts) {
    this.#options = options;
    this.#opened = opened;
    this.#parts = parts;
  }

  current(): StoreParts {
    if (!this.#opened.isCurrent()) this.#open();
    return this.#parts;
  }

  /** Returns the result of `work`. If a database that is read without locks changed meanwhile, the work is repeated. */
  use<T>(work: (parts: StoreParts) => T): T {
    const parts = this.current();
    const { isCurrent } = this.#opened;
    try {
      const answer = work(parts);
      if (isCurrent()) return answer;
    } catch (error) {
      if (isCurrent()) throw error;
    }
    return this.use(work);
  }

  /**
   * As `use`, for work that writes.
   * @throws STORE_CORRUPT if the file was renamed, removed or replaced
   */
  write<T>(work: (parts: StoreParts) => T, interval = 0): T {
    return this.use((parts) => {
      const { place } = this.#opened;
      place?.assertKept(interval);
      const answer = work(parts);
      place?.noteWrite();
      return answer;
    });
  }

  /** As `write`, for an append, which checks the place of the file only at intervals. */
  append<T>(work: (parts: StoreParts) => T): T {
    return this.write(work, checkInterval);
  }

  /** As `write`; creates the database if there is none. */
  writeFirst<T>(work: (parts: StoreParts) => T): T {
    for (this.current(); !this.#opened.exists; this.current())
      createDatabase(this.#options.file, this.#options.access);
    return this.write(work);
  }

  /** @throws STORE_CORRUPT if acknowledged writes are not in the file at the path, and no call has reported it */
  close(): void {
    const { place } = this.#opened;
    try {
      place?.assertNothingLost();
    } finally {
      closeAfter(this.#parts, () => releaseAll(this.#parts));
    }
  }

  #open(): void {
    const { opened, parts } = openParts(this.#options);
    closeAfter(this.#parts, () => {});
    this.#opened = opened;
    this.#parts = parts;
  }
}

/** Opens the database at the path, and creates nothing there. */
export function openConnection(options: ConnectionOptions): StoreConnection {
  return new StoreConnection(options, openParts(options));
}

function closeAfter({ database, lengths }: StoreParts, work: () => void): void {
  try {
    work();
  } finally {
    database.close();
    lengths.close();
  }
}
