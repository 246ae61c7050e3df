import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '@hansard/provider';
import { corrupt } from '../sqlite-errors.ts';
import { headChecksum } from './decode.ts';
import { inTransaction } from './transaction.ts';

/** Marks the file as ours: "HNSD" in ASCII. */
const applicationId = 0x484e5344;
/** The format of databases. `test/upgrade-step.ts` is the template for a step from an earlier one. */
const databaseFormat = 1;

/*
 * Columns are NOT NULL and have no default, so that a process with another version of the package fails instead of writing.
 *
 * crc                    the checksum of the row; see checksums.ts
 * head                   one row. It says how many rows `tasks` has, and a row of `tasks` says how many dispatches it has: so a
 *                        listing that lost a row shows
 * written_as             the name under which a row was written, `TASK/ID` or `TASK`. A row at another place is STORE_MISPLACED. The checksum of
 *                        the row covers this name and not its place.
 * tasks.task             null for a task with dispatches and without a record
 * dispatches.started_at  `startedAt` of the envelope ('' if it is null), for the indexes by which a page is found; see dispatch-pages.ts
 * dispatches.epoch       grows with each claim
 * dispatches.acknowledged  the number of events when the dispatch last ended or was released; fewer events are damage
 * events.line            the event as `encodeEvent` writes it
 * events.batch           the number of events that follow in its batch
 * openings, claims       the leases: the openings of the store, and what they have claimed; see writer-leases.ts
 * event_ids              only for dispatches whose `has_event_ids` is 1; in all others ids grow with positions
 * event_search           rowid = dispatch << 32 | position; contains the first `searchable_events` events of a dispatch
 * accepted_losses        the rows of a damaged dispatch stay in `events` under the old number; see accept-loss.ts
 */
export const tableTexts = {
  head: `CREATE TABLE head (
    database_id TEXT NOT NULL PRIMARY KEY,
    tasks       INTEGER NOT NULL,
    digest      INTEGER NOT NULL,
    crc         INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  tasks: `CREATE TABLE tasks (
    task_dir   TEXT NOT NULL PRIMARY KEY,
    written_as TEXT NOT NULL,
    dispatches INTEGER NOT NULL,
    digest     INTEGER NOT NULL,
    crc        INTEGER NOT NULL,
    task       TEXT
  ) STRICT, WITHOUT ROWID`,
  dispatches: `CREATE TABLE dispatches (
    number            INTEGER PRIMARY KEY AUTOINCREMENT,
    task_dir          TEXT NOT NULL,
    dispatch_id       TEXT NOT NULL,
    written_as        TEXT NOT NULL,
    started_at        TEXT NOT NULL,
    epoch             INTEGER NOT NULL,
    acknowledged      INTEGER NOT NULL,
    has_event_ids     INTEGER NOT NULL,
    searchable_events INTEGER NOT NULL,
    crc               INTEGER NOT NULL,
    envelope          TEXT NOT NULL,
    UNIQUE (task_dir, dispatch_id)
  ) STRICT`,
  events: `CREATE TABLE events (
    dispatch INTEGER NOT NULL,
    position INTEGER NOT NULL,
    batch    INTEGER NOT NULL,
    crc      INTEGER NOT NULL,
    line     TEXT NOT NULL,
    PRIMARY KEY (dispatch, position)
  ) STRICT, WITHOUT ROWID`,
  event_ids: `CREATE TABLE event_ids (
    dispatch INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (dispatch, id)
  ) STRICT, WITHOUT ROWID`,
  openings: `CREATE TABLE openings (
    token TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    beat  INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  claims: `CREATE TABLE claims (
    dispatch INTEGER NOT NULL PRIMARY KEY,
    epoch    INTEGER NOT NULL,
    token    TEXT NOT NULL
  ) STRICT`,
  accepted_losses: `CREATE TABLE accepted_losses (
    number       INTEGER NOT NULL PRIMARY KEY,
    dispatch     INTEGER NOT NULL,
    verification TEXT NOT NULL
  ) STRICT`,
  event_search: `CREATE VIRTUAL TABLE event_search USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  )`,
} as const;

/** For pages of dispatches in the order of a listing. A task has its own index, which the order of the first one would not help. */
export const indexTexts = {
  dispatches_by_start: `CREATE INDEX dispatches_by_start ON dispatches (started_at, task_dir, dispatch_id)`,
  dispatches_of_task_by_start: `CREATE INDEX dispatches_of_task_by_start ON dispatches (task_dir, started_at, dispatch_id)`,
} as const;

/** Creates the tables in a new database, and marks it as ours. */
export function createTables(database: DatabaseSync): void {
  inTransaction(database, () => {
    for (const text of Object.values({ ...tableTexts, ...indexTexts })) database.exec(text);
    insertHead(database);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    markFormat(database);
  });
}

/** The first row of `head`, with a new id for the database. */
export function insertHead(database: DatabaseSync): void {
  const databaseId = randomUUID();
  const crc = headChecksum({ databaseId, tasks: 0, digest: 0 });
  database
    .prepare('INSERT INTO head (database_id, tasks, digest, crc) VALUES (?, 0, 0, ?)')
    .run(databaseId, crc);
}

export function markFormat(database: DatabaseSync): void {
  database.exec(`PRAGMA user_version = ${databaseFormat}`);
}

/**
 * Checks that a database is one of this store, in its format.
 * @throws STORE_UNAVAILABLE if it has a newer format or belongs to another program; STORE_CORRUPT if its tables are damaged
 */
export function assertFormat(database: DatabaseSync, file: string): void {
  const { application, version } = database
    .prepare(
      `SELECT application_id AS application, user_version AS version
       FROM pragma_application_id, pragma_user_version`,
    )
    .get() as { application: number; version: number };
  if (application !== applicationId) {
    throw storeErrors.error(
      'STORE_UNAVAILABLE',
      `${file} is the database of another program. Configure another file or root for the store.`,
      { details: { file } },
    );
  }
  if (version > databaseFormat) {
    throw storeErrors.error(
      'STORE_UNAVAILABLE',
      `${file} was written by a newer @hansard/store-sqlite (format ${version}; this version supports ${databaseFormat}). Update the package.`,
      { details: { file, version } },
    );
  }
  if (version !== databaseFormat) throw corrupt(file, `it has the unknown format ${version}`);
  assertTables(database, file);
}

/** @throws STORE_CORRUPT if the texts of the tables and indexes are not those with which they were created */
function assertTables(database: DatabaseSync, file: string): void {
  const rows = database
    .prepare(`SELECT type, name, tbl_name AS tableName, sql FROM sqlite_schema WHERE sql IS NOT NULL`)
    .all();
  const found = new Map(
    rows.map(({ type, name, tableName, sql }) => [
      `${type} ${name} of ${type === 'index' ? tableName : name === tableName ? 'itself' : 'another'}`,
      inOneLine(sql),
    ]),
  );
  for (const [name, text] of Object.entries(tableTexts))
    if (found.get(`table ${name} of itself`) !== inOneLine(text))
      throw corrupt(file, `the definition of its table ${name} has changed`);
  for (const [name, text] of Object.entries(indexTexts))
    if (found.get(`index ${name} of dispatches`) !== inOneLine(text))
      throw corrupt(file, `the definition of its index ${name} has changed`);
}

function inOneLine(sql: unknown): string {
  return String(sql).replace(/\s+/g, ' ');
}
