import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

type Fields = Record<string, unknown>;

/** A database with a row for each text. What is not an object is the data of a row. Columns that no definition has are added. */
export function databaseOf(
  texts: readonly string[],
  definitions: Readonly<Record<string, string>>,
  tableOf: (row: Fields) => string,
  rowOf: (value: unknown) => Fields,
): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-rows-'));
  const database = new DatabaseSync(join(folder, 'source.db'));
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 1024; BEGIN');
  const columns = new Map<string, Set<string>>();
  for (const [table, definition] of Object.entries(definitions)) {
    database.exec(`CREATE TABLE \`${table}\` (${definition})`);
    columns.set(table, new Set(definition.split(',').map((column) => column.trim().split(' ')[0] ?? '')));
  }
  for (const text of texts) {
    const value: unknown = JSON.parse(text);
    const row = typeof value === 'object' && value !== null ? (value as Fields) : rowOf(value);
    const table = tableOf(row);
    const known = columns.get(table) ?? new Set();
    for (const name of Object.keys(row)) {
      if (known.has(name)) continue;
      known.add(name);
      database.exec(`ALTER TABLE \`${table}\` ADD COLUMN \`${name}\``);
    }
    const names = Object.keys(row);
    const places = names.map(() => '?').join(', ');
    database
      .prepare(
        `INSERT OR REPLACE INTO \`${table}\` (${names.map((name) => `\`${name}\``).join(', ')}) VALUES (${places})`,
      )
      .run(...names.map((name) => storedOf(row[name])));
  }
  database.exec('COMMIT');
  database.close();
  const bytes = readFileSync(join(folder, 'source.db'));
  rmSync(folder, { recursive: true });
  return bytes;
}

function storedOf(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
}
