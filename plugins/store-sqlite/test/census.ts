import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Each row of a table by the number of its dispatch, and where that is not a number of a dispatch. Every row is read, one after the other. */
const tables = {
  events: 'SELECT dispatch AS number FROM events',
  event_ids: 'SELECT dispatch AS number FROM event_ids',
  event_search: 'SELECT rowid >> 32 AS number FROM event_search WHERE rowid > 0xffffffff',
  claims: 'SELECT dispatch AS number FROM claims',
};

/**
 * The rows that no dispatch has, the heartbeats without a claim, and the files beside the database that are none of its own. Of a database whose
 * bytes a case has damaged, only the files.
 */
export function censusOf(file: string): string[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const known = new Set(
      ['dispatches', 'accepted_losses'].flatMap((table) =>
        database
          .prepare(`SELECT number FROM ${table}`)
          .all()
          .map(({ number }) => number),
      ),
    );
    const rows = Object.entries(tables).flatMap(([table, sql]) => {
      const others = database
        .prepare(sql)
        .all()
        .filter(({ number }) => !known.has(number));
      return others.length === 0 ? [] : [`rows of ${table} under numbers that no dispatch has`];
    });
    const claiming = new Set(
      database
        .prepare('SELECT token FROM claims')
        .all()
        .map(({ token }) => token),
    );
    const openings = database
      .prepare('SELECT token FROM openings')
      .all()
      .map(({ token }) => String(token));
    return [...rows, ...openings.filter((token) => !claiming.has(token)), ...filesBeside(file)];
  } catch (error) {
    if (isDamage(error)) return filesBeside(file);
    throw error;
  } finally {
    database.close();
  }
}

/** Whether SQLite says that bytes of the database are not what it wrote: the low byte of its code is that of SQLITE_CORRUPT. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 11;
}

function filesBeside(file: string): string[] {
  // `.moved`: another program moved the database away, in the cases with a moved file.
  const own = new Set(['', '-wal', '-shm', '-lengths', '.moved'].map((suffix) => basename(file) + suffix));
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(file)) && !own.has(name))
    .map((name) => join(dirname(file), name));
}
