import type { DatabaseSync } from 'node:sqlite';

/** Runs `work`, whose statements all read the same state of the database, also while another process writes. */
export function inSnapshot<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec('BEGIN');
  try {
    return work();
  } finally {
    if (database.isTransaction) database.exec('COMMIT');
  }
}

/** Runs `work` in one transaction, which has SQLite's write lock from its start. An exception rolls it back. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
