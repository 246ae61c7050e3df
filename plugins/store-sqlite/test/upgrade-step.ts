import type { DatabaseSync } from 'node:sqlite';
import { chainStart } from '@hansard/store-kit';
import {
  dispatchChecksum,
  eventChecksum,
  headChecksum,
  taskChecksum,
  toggleName,
} from '../src/database/decode.ts';
import { indexTexts, insertHead, markFormat, tableTexts } from '../src/database/schema.ts';
import { type HeadRow, prepareStatements } from '../src/database/statements.ts';

/** The tables of the made-up format 0. */
export const tablesOf0 = `
  CREATE TABLE tasks (task_dir TEXT PRIMARY KEY, task TEXT);
  CREATE TABLE dispatches (number INTEGER PRIMARY KEY, task_dir TEXT, dispatch_id TEXT, envelope TEXT);
  CREATE TABLE events (dispatch INTEGER, position INTEGER, line TEXT, PRIMARY KEY (dispatch, position));
  CREATE TABLE writers (dispatch INTEGER PRIMARY KEY, owner TEXT);
`;

interface OldDispatch {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly envelope: string;
}

/**
 * The template for a step from one format of the database to the next. All or nothing, in one transaction:
 * 1. Take the exclusive lock of SQLite. If another process has taken the step meanwhile, end.
 * 2. If a dispatch has a writer that may still run, refuse.
 * 3. Copy the tables to those of the next format, with checksums of their present content. Damage is copied, and is found as before.
 * 4. Drop the old tables. A process with the earlier version now fails at every write, because `writers` is gone.
 * @returns false if the database already has the present format
 */
export function upgradeFrom0(database: DatabaseSync): boolean {
  database.exec('BEGIN EXCLUSIVE');
  try {
    const isOld = database.prepare('PRAGMA user_version').get()?.user_version === 0;
    if (isOld) {
      if (database.prepare('SELECT 1 FROM writers').get() !== undefined) throw new Error('It has a writer.');
      copyTables(database);
      markFormat(database);
    }
    database.exec('COMMIT');
    return isOld;
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function copyTables(database: DatabaseSync): void {
  for (const name of ['tasks', 'dispatches', 'events'])
    database.exec(`ALTER TABLE ${name} RENAME TO old_${name}`);
  for (const text of Object.values({ ...tableTexts, ...indexTexts })) database.exec(text);
  insertHead(database);
  copyDispatches(database);
  for (const name of ['tasks', 'dispatches', 'events']) database.exec(`DROP TABLE old_${name}`);
  database.exec('DROP TABLE writers');
}

function copyDispatches(database: DatabaseSync): void {
  const statements = prepareStatements(database);
  const all = <T>(sql: string) => database.prepare(sql).all() as unknown as T[];
  const tasks = new Map(
    all<{ taskDir: string; task: string }>('SELECT task_dir AS taskDir, task FROM old_tasks').map(
      ({ taskDir, task }) => [taskDir, { task: task as string | null, dispatches: 0, digest: 0 }],
    ),
  );
  for (const old of all<OldDispatch>(
    'SELECT number, task_dir AS taskDir, dispatch_id AS dispatchId, envelope FROM old_dispatches',
  )) {
    const { number, taskDir, dispatchId, envelope } = old;
    const events = all<{ position: number; line: string }>(
      `SELECT position, line FROM old_events WHERE dispatch = ${number} ORDER BY position`,
    );
    const ids = events.map(({ line }) => String(JSON.parse(line).id));
    const hasEventIds = ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? '')) ? 0 : 1;
    const { startedAt } = JSON.parse(envelope);
    const crc = dispatchChecksum({ ...old, writtenAs: `${taskDir}/${dispatchId}`, epoch: 0, hasEventIds });
    statements.insertDispatch.run(
      ...[
        number,
        taskDir,
        dispatchId,
        `${taskDir}/${dispatchId}`,
        startedAt,
        0,
        events.length,
        hasEventIds,
        crc,
        envelope,
      ],
    );
    if (hasEventIds === 1)
      for (const [position, id] of ids.entries())
        database.prepare('INSERT INTO event_ids VALUES (?, ?, ?)').run(number, id, position);
    let previous = chainStart(taskDir, dispatchId);
    const insert = database.prepare(
      'INSERT INTO events (dispatch, position, batch, crc, line) VALUES (?, ?, 0, ?, ?)',
    );
    for (const { position, line } of events) {
      previous = eventChecksum(previous, 0, line);
      insert.run(number, position, previous, line);
    }
    const { task, dispatches, digest } = tasks.get(taskDir) ?? { task: null, dispatches: 0, digest: 0 };
    tasks.set(taskDir, { task, dispatches: dispatches + 1, digest: toggleName(digest, dispatchId) });
  }
  for (const [taskDir, { task, dispatches, digest }] of tasks) {
    const crc = taskChecksum({ writtenAs: taskDir, task, dispatches, digest });
    statements.putTask.run(taskDir, dispatches, digest, crc, task);
  }
  const { databaseId } = statements.getHead.get() as HeadRow;
  const head = { databaseId, tasks: tasks.size, digest: [...tasks.keys()].reduce(toggleName, 0) };
  statements.setHead.run(head.tasks, head.digest, headChecksum(head));
}
