import { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';
import { emptyWorld, type Medium, type World } from './world.ts';

/** A world in one row of a database, so that several processes share it. A kill at any point leaves the world before or after a call. */
export function inDatabase(file: string): Medium & { close(): void } {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF');
  database.exec('CREATE TABLE IF NOT EXISTS world (id INTEGER PRIMARY KEY, bytes BLOB)');
  const select = database.prepare('SELECT bytes FROM world');
  const save = database.prepare(
    'INSERT INTO world VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes',
  );
  return {
    use(action) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const row = select.get() as { bytes: Uint8Array } | undefined;
        const world = row === undefined ? emptyWorld() : (deserialize(row.bytes) as World);
        try {
          return action(world);
        } finally {
          save.run(serialize(world));
        }
      } finally {
        database.exec('COMMIT');
      }
    },
    close: () => database.close(),
  };
}
