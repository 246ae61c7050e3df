import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { JsonObject, JsonValue } from '@hansard/events';
import { unreadable } from '../find/read-source.ts';
import type { HistoryPart } from './history-reading.ts';

/** What SQLite keeps beside a database that has changes which the file does not have yet. */
const logs = ['-wal', '-journal'];

/** The files of a database: itself, and the log beside it, if the log has anything. */
export function databaseFiles(file: string): string[] {
  return [file, ...logs.map((end) => `${file}${end}`).filter((path) => sizeOf(path) > 0)];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const stateOf = (file: string): string =>
  ['', ...logs]
    .map((end) => statSync(`${file}${end}`, { throwIfNoEntry: false }))
    .map((stats) => `${stats?.size} ${stats?.mtimeMs}`)
    .join();

const mostAttempts = 5;
const closeAfterMs = 200;

/**
 * A database of a product as it was at one moment. The product's files are never written, locked or blocked: a database without a log is opened as
 * immutable, and one with a log is copied with it.
 */
class Snapshot {
  readonly file: string;
  readonly state: string;
  readonly database: DatabaseSync;
  readonly #folder: string | null;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;
  isClosed = false;

  static async of(file: string): Promise<Snapshot> {
    const sqlite = await import('node:sqlite');
    for (let attempt = 1; ; attempt += 1) {
      const state = stateOf(file);
      const files = databaseFiles(file);
      const folder = files.length === 1 ? null : mkdtempSync(join(tmpdir(), 'hansard-database-'));
      if (folder !== null)
        for (const path of files)
          copyFileSync(path, join(folder, basename(path)), constants.COPYFILE_FICLONE);
      // A log that only grew meanwhile is whole up to its last commit.
      if (folder !== null && attempt < mostAttempts && stateOf(file) !== state) {
        rmSync(folder, { recursive: true, force: true });
        continue;
      }
      const url = pathToFileURL(folder === null ? file : join(folder, basename(file)));
      if (folder === null) url.search = '?mode=ro&immutable=1';
      return new Snapshot(file, state, folder, new sqlite.DatabaseSync(url));
    }
  }

  private constructor(file: string, state: string, folder: string | null, database: DatabaseSync) {
    this.file = file;
    this.state = state;
    this.#folder = folder;
    this.database = database;
    process.once('exit', this.close);
  }

  use(): void {
    clearTimeout(this.#timer);
    this.#users += 1;
  }

  /** Several sessions of one database are read one after the other, so it stays open for a moment. */
  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#timer = setTimeout(this.close, closeAfterMs);
    this.#timer.unref();
  }

  readonly close = (): void => {
    if (this.isClosed) return;
    this.isClosed = true;
    process.off('exit', this.close);
    this.database.close();
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  };

  get isUsed(): boolean {
    return this.#users > 0;
  }
}

let latest: Snapshot | null = null;

/** A row as a record: integers that no number can hold are texts, and bytes are Base64. */
export type Row = JsonObject;

/** Reads a database of a product. */
export class HistoryDatabase implements Disposable {
  readonly #snapshot: Snapshot;
  readonly #tables: ReadonlySet<string>;

  /** @throws FORMAT_UNREADABLE */
  static async open(file: string): Promise<HistoryDatabase> {
    try {
      if (latest === null || latest.isClosed || latest.file !== file || latest.state !== stateOf(file)) {
        if (latest?.isUsed === false) latest.close();
        latest = await Snapshot.of(file);
      }
      return new HistoryDatabase(latest);
    } catch (error) {
      throw unreadable(file, error);
    }
  }

  private constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    try {
      const query = "SELECT name FROM sqlite_master WHERE type = 'table'";
      const names = snapshot.database.prepare(query).all();
      this.#tables = new Set(names.map(({ name }) => String(name)));
    } catch (error) {
      snapshot.close();
      throw error;
    }
    snapshot.use();
  }

  has(table: string): boolean {
    return this.#tables.has(table);
  }

  /** @throws FORMAT_UNREADABLE */
  *rows(query: string, ...values: readonly (string | number)[]): Generator<Row> {
    try {
      const statement = this.#snapshot.database.prepare(query);
      statement.setReadBigInts(true);
      for (const row of statement.iterate(...values))
        yield Object.fromEntries(Object.entries(row).map(([key, value]) => [key, jsonOf(value)]));
    } catch (error) {
      throw unreadable(this.#snapshot.file, error);
    }
  }

  [Symbol.dispose](): void {
    this.#snapshot.release();
  }
}

function jsonOf(value: SQLOutputValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

/** The bytes of the texts in a row. */
export function bytesOfRow(row: Row): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );
}

/** What a text has if it is JSON, else the text. */
export function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Rows that are left out. */
export function countRows(rows: Iterable<Row>, problem: string, place: string): HistoryPart {
  let [records, bytes] = [0, 0];
  for (const row of rows) {
    records += 1;
    bytes += bytesOfRow(row);
  }
  return { kind: 'bytes', problem, place, line: 1, bytes, checksum: 0, records };
}
