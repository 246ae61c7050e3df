import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { RemainsScope } from '@hansard/provider';
import { orMissing, type Processes, parseLease } from '@hansard/store-kit';
import { isBusy } from '../sqlite-errors.ts';
import { inTransaction } from './transaction.ts';

/**
 * Removes what is not in use any more from the file of the database and from its log. Repeating it is safe.
 * 1. Merge the index of words: until then it contains the words of events that were deleted.
 * 2. Write the file again (VACUUM), in one transaction. A page that was freed, and the free part of a page, keep old rows.
 * 3. Move the log into the file, and empty it.
 * @returns what can still contain old content, in words
 * @throws an error of SQLite, such as a busy database or a full disk. Then the content is unchanged
 */
export function removeRemains(database: DatabaseSync, file: string): string[] {
  try {
    overwriting(database, () => {
      inTransaction(database, () => mergeWords(database));
      database.exec('VACUUM');
    });
  } catch (error) {
    // Another process has the lock: this one would wait for it once more.
    if (!isBusy(error)) emptyLog(database);
    throw error;
  }
  const remains = emptyLog(database)
    ? []
    : [
        `${file} and its log, because another process reads them: they have old content until the last process closes the store.`,
      ];
  const { losses } = database.prepare('SELECT count(*) AS losses FROM accepted_losses').get() as {
    losses: number;
  };
  if (losses > 0) remains.push(damagedRows(losses, file));
  return remains;
}

/** The numbers in a table that no dispatch has, and no accepted loss. `next` gives the least number above one: a look at each row would read every event. */
function numbersOfNothing(next: string): string {
  return `WITH RECURSIVE found (number) AS (
      SELECT (${next.replaceAll('$above', '0')})
      UNION ALL SELECT (${next.replaceAll('$above', 'found.number')}) FROM found WHERE found.number IS NOT NULL)
    SELECT number FROM found WHERE number IS NOT NULL
      AND number NOT IN (SELECT number FROM dispatches) AND number NOT IN (SELECT number FROM accepted_losses)`;
}

const orphans = {
  events: numbersOfNothing('SELECT min(dispatch) FROM events WHERE dispatch > $above'),
  event_ids: numbersOfNothing('SELECT min(dispatch) FROM event_ids WHERE dispatch > $above'),
  event_search: numbersOfNothing(
    'SELECT min(id) >> 32 FROM event_search_docsize WHERE id > ($above << 32 | 0xffffffff)',
  ),
  claims: numbersOfNothing('SELECT min(dispatch) FROM claims WHERE dispatch > $above'),
} as const;

/** The rows and files that no read shows, in words. Nothing changes. */
export function findRemains(
  database: DatabaseSync,
  { file, processes }: { readonly file: string; readonly processes: Processes },
  { taskDir, dispatchId }: RemainsScope,
): string[] {
  const losses = database
    .prepare(
      `SELECT task_dir AS taskDir, dispatch_id AS dispatchId, count(*) AS losses
       FROM accepted_losses LEFT JOIN dispatches ON dispatches.number = dispatch
       WHERE coalesce(task_dir = ?1, ?1 IS NULL) AND coalesce(dispatch_id = ?2, ?2 IS NULL) GROUP BY dispatch ORDER BY 1, 2`,
    )
    .all(taskDir ?? null, dispatchId ?? null);
  const kept = losses.map(({ losses: count, ...of }) =>
    of.dispatchId === null
      ? `${file}, ${count} accepted losses of a dispatch that is missing: keep a copy, and delete them from accepted_losses.`
      : `${file}, the damaged rows of ${count} accepted losses of dispatch ${of.dispatchId} of ${of.taskDir}: delete the dispatch to remove them.`,
  );
  if (taskDir !== undefined) return kept;
  const rows = Object.entries(orphans).flatMap(([table, sql]) => {
    const numbers = database
      .prepare(sql)
      .all()
      .map(({ number }) => number);
    const list = numbers.slice(0, 10).join(', ') + (numbers.length > 10 ? ' …' : '');
    const how = `keep a copy, and delete them from ${table} with sqlite3`;
    return numbers.length === 0
      ? []
      : [`${file}, rows of ${table} under numbers that no dispatch has (${list}): ${how}.`];
  });
  return [...kept, ...rows, ...idleOpenings(database, file, processes), ...leftFiles(file)];
}

/** The openings of processes that have exited, without a claim. */
function idleOpenings(database: DatabaseSync, file: string, processes: Processes): string[] {
  const rows = database
    .prepare('SELECT token, owner FROM openings WHERE token NOT IN (SELECT token FROM claims) ORDER BY token')
    .all();
  return rows.flatMap(({ token, owner }) => {
    const lease = parseLease(String(owner));
    if (lease !== null && processes.isRunning(lease.owner)) return [];
    return `${file}, the heartbeat ${token} of a process that has exited: delete its row from openings with sqlite3.`;
  });
}

/** The files of creations that a killed process did not finish. */
function leftFiles(file: string): string[] {
  const name = basename(file);
  const entries = orMissing(() => readdirSync(dirname(file))) ?? [];
  return entries
    .filter((entry) => entry.startsWith(name) && /(?:\.new(?:-wal|-shm)?|-lengths\.new)$/.test(entry))
    .map(
      (entry) => `${join(dirname(file), entry)}, a database that a process did not finish: delete the file.`,
    );
}

export function damagedRows(losses: number, file: string): string {
  return `The damaged rows of ${losses} accepted losses, in ${file}: delete their dispatches to remove them.`;
}

/** Runs work whose deleted rows and freed pages are overwritten with zeros. */
export function overwriting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    // As the opening of the database sets it.
    database.exec('PRAGMA secure_delete = FAST');
  }
}

/** Removes the words of deleted events from the index. */
function mergeWords(database: DatabaseSync): void {
  database.exec("INSERT INTO event_search (event_search) VALUES ('optimize')");
}

/** Moves the log into the database, and empties it. @returns false if another connection reads it */
function emptyLog(database: DatabaseSync): boolean {
  const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  return busy === 0;
}
