import type { DatabaseSync } from 'node:sqlite';
import { createDatabase } from './database/create-database.ts';
import { type DatabaseOptions, type OpenedDatabase, openDatabase } from './database/open-database.ts';
import { prepareStatements, type Statements } from './database/statements.ts';
import { EventReader } from './events/event-reader.ts';
import { EventSearch } from './events/event-search.ts';
import { EventWriter } from './events/event-writer.ts';
import { toStoreError } from './sqlite-errors.ts';
import { WriterLeases } from './writer-leases.ts';

/** Appends check at this interval, in milliseconds, that the file is at its path. A check costs a tenth of an append. */
const checkInterval = 50;

/** The objects that work on one opened database. */
export interface StoreParts {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly leases: WriterLeases;
  readonly writer: EventWriter;
  readonly reader: EventReader;
  readonly search: EventSearch;
}

interface OpenedParts {
  readonly opened: OpenedDatabase;
  readonly parts: StoreParts;
}

/** The database of a store, opened again if another one is at its path. Created by {@link openConnection}. */
export class StoreConnection {
  readonly #options: DatabaseOptions;
  #opened: OpenedDatabase;
  #parts: StoreParts;

  constructor(options: DatabaseOptions, { opened, parts }: OpenedParts) {
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

  /** As `use`, for work that writes. @throws STORE_CORRUPT if the file was renamed, removed or replaced */
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
    for (this.current(); !this.#opened.exists; this.current()) createDatabase(this.#options.file);
    return this.write(work);
  }

  /** @throws STORE_CORRUPT if acknowledged writes are not in the file at the path, and no call has reported it */
  close(): void {
    const { database, place } = this.#opened;
    try {
      place?.assertNothingLost();
    } finally {
      closeAfter(database, () => this.#parts.leases.releaseAll());
    }
  }

  #open(): void {
    const { opened, parts } = openParts(this.#options);
    this.#opened.database.close();
    this.#opened = opened;
    this.#parts = parts;
  }
}

/** Opens the database at the path, and creates nothing there. */
export function openConnection(options: DatabaseOptions): StoreConnection {
  return new StoreConnection(options, openParts(options));
}

function openParts(options: DatabaseOptions): OpenedParts {
  const { file } = options;
  const opened = openDatabase(options);
  const { database } = opened;
  try {
    const statements = prepareStatements(database);
    const leases = new WriterLeases(statements, file);
    const writer = new EventWriter(database, statements, leases, file);
    const reader = new EventReader(statements, file);
    const search = new EventSearch(database, statements, file);
    return { opened, parts: { database, statements, leases, writer, reader, search } };
  } catch (error) {
    database.close();
    throw toStoreError(error, file);
  }
}

function closeAfter(database: DatabaseSync, work: () => void): void {
  try {
    work();
  } finally {
    database.close();
  }
}
