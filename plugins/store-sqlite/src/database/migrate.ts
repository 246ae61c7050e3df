import { DatabaseSync } from 'node:sqlite';
import type { DispatchEnvelope } from '@hansard/events';
import { StoreError } from '@hansard/provider';
import { describeOwner, hasExpired, type ProcessOwner, toOwner, unlockCommand } from '@hansard/store-kit';
import { toStoreError } from '../sqlite-errors.ts';
import {
  chainStart,
  dispatchChecksum,
  eventChecksum,
  headChecksum,
  taskChecksum,
  toggleName,
} from './checksums.ts';
import { type DatabaseOptions, locate } from './open-database.ts';
import { formatOf, indexTexts, insertHead, markFormat, tableTexts } from './schema.ts';
import { type HeadRow, prepareStatements, type Statements } from './statements.ts';

interface OldDispatch {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly acknowledged: number;
  readonly hasEventIds: 0 | 1;
  readonly searchable: number;
  readonly envelope: string;
}

/**
 * Migrates a database of format 1, if no process writes to it. All or nothing, in one transaction:
 * 1. Take SQLite's exclusive lock. If another process has migrated meanwhile, end.
 * 2. If a dispatch is claimed by an owner that is not proven to have exited, refuse.
 * 3. Copy the tables to those of format 2, with checksums of their present content. Damage is copied, and is found as before.
 * 4. Drop the old tables. A process with an older version now fails at every write, because `writers` is gone.
 * @throws STORE_LOCKED, STORE_CORRUPT, STORE_UNAVAILABLE
 */
export function migrateFile({ file, busyTimeout }: DatabaseOptions): void {
  const database = new DatabaseSync(locate(file, { mode: 'rw' }), { timeout: busyTimeout });
  try {
    database.exec('BEGIN EXCLUSIVE');
    try {
      if (formatOf(database, file) === 1) {
        assertUnclaimed(database, file);
        copyTables(database);
        markFormat(database);
      }
      database.exec('COMMIT');
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    database.close();
  }
}

function assertUnclaimed(database: DatabaseSync, file: string): void {
  const claims = database
    .prepare(
      `SELECT task_dir AS taskDir, dispatch_id AS dispatchId, owner
       FROM writers JOIN dispatches ON number = dispatch`,
    )
    .all() as unknown as { taskDir: string; dispatchId: string; owner: string }[];
  for (const { taskDir, dispatchId, owner: text } of claims) {
    const owner = ownerOf(text);
    if (owner !== null && hasExpired({ owner })) continue;
    const name = owner === null ? 'an unknown process' : describeOwner(owner);
    throw new StoreError(
      'STORE_LOCKED',
      `${file} has format 1 and cannot be upgraded while dispatch ${dispatchId} belongs to ${name}, which has an older version of @hansard/store-sqlite. Wait until it is released. If that process no longer runs, release the dispatch with \`${unlockCommand(taskDir, dispatchId)}\`.`,
      { details: { owner: name, taskDir, dispatchId, file, expiresInMs: null } },
    );
  }
}

function ownerOf(text: string): ProcessOwner | null {
  try {
    return toOwner(JSON.parse(text));
  } catch {
    return null;
  }
}

function copyTables(database: DatabaseSync): void {
  for (const name of ['tasks', 'dispatches', 'events'])
    database.exec(`ALTER TABLE ${name} RENAME TO old_${name}`);
  database.exec('DROP TABLE writers');
  for (const [name, text] of Object.entries(tableTexts))
    if (name !== 'event_ids' && name !== 'event_search') database.exec(text);
  for (const text of Object.values(indexTexts)) database.exec(text);
  insertHead(database);
  copyDispatches(database, prepareStatements(database));
  const chain = new Chain();
  database.function('hansard_checksum', { varargs: true }, (...values) =>
    chain.next(...(values as [number, string | null, string | null, string])),
  );
  database.exec(`
    INSERT INTO events (dispatch, position, batch, crc, line)
    SELECT dispatch, position, 0, hansard_checksum(dispatch, task_dir, dispatch_id, line), line
    FROM old_events LEFT JOIN dispatches ON number = dispatch
    ORDER BY dispatch, position;
    DROP TABLE old_events; DROP TABLE old_dispatches; DROP TABLE old_tasks;
  `);
}

function copyDispatches(database: DatabaseSync, statements: Statements): void {
  const dispatches = database
    .prepare(
      `SELECT number, task_dir AS taskDir, dispatch_id AS dispatchId, least_events AS acknowledged,
         has_event_ids AS hasEventIds, searchable_events AS searchable, envelope FROM old_dispatches`,
    )
    .all() as unknown as OldDispatch[];
  const records = database.prepare('SELECT task_dir AS taskDir, task FROM old_tasks').all() as unknown as {
    taskDir: string;
    task: string | null;
  }[];
  const tasks = new Map(records.map(({ taskDir, task }) => [taskDir, { task, dispatches: 0, digest: 0 }]));
  for (const { searchable, ...old } of dispatches) {
    const row = { ...old, epoch: 0, envelope: withTitle(old) };
    const { number, taskDir, dispatchId, acknowledged, hasEventIds, envelope } = row;
    const crc = dispatchChecksum(row);
    statements.insertDispatch.run(
      ...[number, taskDir, dispatchId, startOf(envelope), 0, acknowledged, hasEventIds, crc, envelope],
    );
    statements.setSearchable.run(searchable, number);
    const counted = tasks.get(taskDir) ?? { task: null, dispatches: 0, digest: 0 };
    const digest = toggleName(counted.digest, dispatchId);
    tasks.set(taskDir, { ...counted, dispatches: counted.dispatches + 1, digest });
  }
  for (const [taskDir, { task, dispatches: count, digest }] of tasks)
    statements.putTask.run(
      taskDir,
      count,
      digest,
      taskChecksum({ taskDir, task, dispatches: count, digest }),
      task,
    );
  const { databaseId } = statements.getHead.get() as HeadRow;
  const head = { databaseId, tasks: tasks.size, digest: [...tasks.keys()].reduce(toggleName, 0) };
  statements.setHead.run(head.tasks, head.digest, headChecksum(head));
}

/** The envelope as JSON. The first versions of format 1 had no titles. A damaged envelope stays as it is. */
function withTitle({ envelope: text }: Pick<OldDispatch, 'envelope'>): string {
  try {
    const { dispatchId, taskSlug, role, title = null, ...others } = JSON.parse(text) as DispatchEnvelope;
    return JSON.stringify({ dispatchId, taskSlug, role, title, ...others });
  } catch {
    return text;
  }
}

/** `startedAt` of an envelope; empty for a damaged one. */
function startOf(envelope: string): string {
  try {
    return String((JSON.parse(envelope) as DispatchEnvelope).startedAt);
  } catch {
    return '';
  }
}

/** Checksums of events that arrive in the order of their dispatches and positions. */
class Chain {
  #dispatch = 0;
  #previous = 0;

  next(dispatch: number, taskDir: string | null, dispatchId: string | null, line: string): number {
    if (dispatch !== this.#dispatch) this.#previous = chainStart(taskDir ?? '', dispatchId ?? '');
    this.#dispatch = dispatch;
    this.#previous = eventChecksum(this.#previous, 0, line);
    return this.#previous;
  }
}
