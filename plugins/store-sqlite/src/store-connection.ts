import type { DatabaseSync } from 'node:sqlite';
import { createDatabase } from './database/create-database.ts';
import { type DatabaseOptions, type OpenedDatabase, openDatabase } from './database/open-database.ts';
import { prepareStatements, type Statements } from './database/statements.ts';
import { EventReader } from './events/event-reader.ts';
import { EventSearch } from './events/event-search.ts';
import { EventWriter } from './events/event-writer.ts';
import { toStoreError } from './sqlite-errors.ts';
import { WriterLeases } from './writer-lease.ts';

/** What works on one opened database. */
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

/** The database of a store, opened again when another one lies at its path. Made by {@link openConnection}. */
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

  /** As `current`, with the database made where there is none. */
  created(): StoreParts {
    const parts = this.current();
    if (this.#opened.isThere) return parts;
    createDatabase(this.#options.file);
    return this.created();
  }

  /** Gives what `work` gives, which is done again where the database changed under it as it can't notice. */
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

  close(): void {
    try {
      this.#parts.leases.releaseAll();
    } finally {
      this.#opened.database.close();
    }
  }

  #open(): void {
    const { opened, parts } = openParts(this.#options);
    this.#opened.database.close();
    this.#opened = opened;
    this.#parts = parts;
  }
}

/** Opens what lies at the path, and creates nothing there. */
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
