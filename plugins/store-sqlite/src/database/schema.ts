import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@hansard/provider';
import { inTransaction } from './transaction.ts';

/** Marks the file as ours: "HNSD" in ASCII. */
const applicationId = 0x484e5344;
const schemaVersion = 1;

/*
 * events.line       the event as `encodeEvent` writes it
 * least_events      the number of events when the dispatch last ended or was released; fewer events are damage
 * writers           the leases: the store that may write a dispatch; see writer-leases.ts
 * event_ids         only for dispatches whose `has_event_ids` is 1; in all others ids grow with positions
 * event_search      rowid = dispatch << 32 | position; contains the first `searchable_events` events of a dispatch
 */
const tables = `
  CREATE TABLE tasks (
    task_dir TEXT NOT NULL PRIMARY KEY,
    task     TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dispatches (
    number            INTEGER PRIMARY KEY AUTOINCREMENT,
    task_dir          TEXT NOT NULL,
    dispatch_id       TEXT NOT NULL,
    least_events      INTEGER NOT NULL DEFAULT 0,
    has_event_ids     INTEGER NOT NULL DEFAULT 0,
    searchable_events INTEGER NOT NULL DEFAULT 0,
    envelope          TEXT NOT NULL,
    UNIQUE (task_dir, dispatch_id)
  ) STRICT;

  CREATE TABLE events (
    dispatch INTEGER NOT NULL,
    position INTEGER NOT NULL,
    line     TEXT NOT NULL,
    PRIMARY KEY (dispatch, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE event_ids (
    dispatch INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (dispatch, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE writers (
    dispatch INTEGER NOT NULL PRIMARY KEY,
    token    TEXT NOT NULL,
    owner    TEXT NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE event_search USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
`;

/** Creates the tables in a new database, and marks it as ours. */
export function createTables(database: DatabaseSync): void {
  inTransaction(database, () => {
    database.exec(tables);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion};`);
  });
}

/** @throws STORE_UNAVAILABLE if the database has a newer version or belongs to another program */
export function assertOurs(database: DatabaseSync, file: string): void {
  const { application, version } = database
    .prepare(
      `SELECT application_id AS application, user_version AS version
       FROM pragma_application_id, pragma_user_version`,
    )
    .get() as { application: number; version: number };
  if (application !== applicationId) {
    throw new StoreError(
      'STORE_UNAVAILABLE',
      `${file} is the database of another program. Configure another file or root for the store.`,
      { details: { file } },
    );
  }
  if (version > schemaVersion) {
    throw new StoreError(
      'STORE_UNAVAILABLE',
      `${file} was written by a newer @hansard/store-sqlite (schema ${version}; this version supports ${schemaVersion}). Update the package.`,
      { details: { file, version } },
    );
  }
}
