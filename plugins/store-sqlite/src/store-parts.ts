import type { DatabaseSync } from 'node:sqlite';
import { AcknowledgedLengths } from './database/acknowledged-lengths.ts';
import {
  type DatabaseOptions,
  type OpenedDatabase,
  openDatabase,
  type StoreSystem,
} from './database/open-database.ts';
import { prepareStatements, type Statements } from './database/statements.ts';
import { Acknowledgements } from './events/acknowledgements.ts';
import { EventReader } from './events/event-reader.ts';
import { EventSearch } from './events/event-search.ts';
import { EventWriter } from './events/event-writer.ts';
import { toOpenError } from './sqlite-errors.ts';
import { DispatchPages } from './tables/dispatch-pages.ts';
import { DispatchTable } from './tables/dispatch-table.ts';
import { TaskTable } from './tables/task-table.ts';
import { WriterLeases } from './writer-leases.ts';

export interface ConnectionOptions extends DatabaseOptions, StoreSystem {
  /** Milliseconds. */
  readonly leaseMs: number;
}

export interface OpenedParts {
  readonly opened: OpenedDatabase;
  readonly parts: StoreParts;
}

/** The objects that work on one opened database. */
export interface StoreParts {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly tasks: TaskTable;
  readonly dispatches: DispatchTable;
  readonly pages: DispatchPages;
  readonly leases: WriterLeases;
  readonly lengths: AcknowledgedLengths;
  readonly acknowledgements: Acknowledgements;
  readonly writer: EventWriter;
  readonly reader: EventReader;
  readonly search: EventSearch;
}

/** Opens the database at the path, and creates nothing there. */
export function openParts(options: ConnectionOptions): OpenedParts {
  const { file, leaseMs, clock, processes } = options;
  const opened = openDatabase(options);
  const { database } = opened;
  try {
    const statements = prepareStatements(database);
    const lengths = new AcknowledgedLengths(file, statements.getHead.get()?.databaseId ?? '');
    const tasks = new TaskTable({ database, statements, file });
    const dispatches = new DispatchTable({ database, statements, tasks, lengths, file });
    const leases = new WriterLeases({ statements, file, leaseMs, clock, processes });
    const reader = new EventReader({ database, statements, dispatches, lengths, file });
    const acknowledgements = new Acknowledgements({ database, statements, lengths, reader, clock });
    const writer = new EventWriter({ database, statements, leases, reader, acknowledgements, file });
    const search = new EventSearch(database, statements, reader);
    const pages = new DispatchPages({ database, dispatches, tasks, reader, file });
    const rows = { tasks, dispatches, pages, leases, lengths, acknowledgements };
    return { opened, parts: { database, statements, ...rows, writer, reader, search } };
  } catch (error) {
    database.close();
    throw toOpenError(error, file);
  }
}
