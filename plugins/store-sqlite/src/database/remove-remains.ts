import type { DatabaseSync } from 'node:sqlite';
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
  let isEmptied: boolean;
  try {
    overwriting(database, () => {
      inTransaction(database, () => mergeWords(database));
      database.exec('VACUUM');
    });
  } finally {
    isEmptied = emptyLog(database);
  }
  const remains = isEmptied
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
