import { DatabaseSync } from 'node:sqlite';

/** A claim, as the database has it. */
export interface StoredClaim {
  /** Identifies the opening. */
  readonly token: string;
  readonly epoch: number;
}

export interface StoredDispatch {
  /** Another one for each creation. */
  readonly number: number;
  readonly epoch: number;
  readonly envelope: string;
  /** The ids of the events, in the order of their positions. */
  readonly ids: readonly string[];
  readonly claim: StoredClaim | null;
}

/** What a database has committed. */
export interface Snapshot {
  /** By the id. */
  readonly dispatches: ReadonlyMap<string, StoredDispatch>;
  /** The heartbeat of each opening, by its token. */
  readonly beats: ReadonlyMap<string, number>;
}

export const emptySnapshot: Snapshot = { dispatches: new Map(), beats: new Map() };

type Row = Record<string, unknown>;

/**
 * Reads the tables with SQL of its own. While it is open, SQLite keeps the write-ahead log when a simulated process ends, as it does
 * when a real one is killed.
 */
export class SnapshotReader {
  readonly #database: DatabaseSync;
  readonly #version: () => unknown;
  readonly #all: readonly (() => Row[])[];
  #seen: unknown;
  #latest: Snapshot = emptySnapshot;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    const version = this.#database.prepare('SELECT data_version AS version FROM pragma_data_version');
    this.#version = () => version.get()?.version;
    this.#all = [
      `SELECT number, dispatch_id AS id, epoch, envelope FROM dispatches WHERE dispatch_id GLOB 'd[0-9]'`,
      'SELECT dispatch, epoch, token FROM claims',
      `SELECT dispatch, json_extract(line, '$.id') AS id FROM events ORDER BY dispatch, position`,
      'SELECT token, beat FROM openings',
    ].map((sql) => {
      const statement = this.#database.prepare(sql);
      return () => statement.all();
    });
  }

  /** The same object if nothing has changed. */
  read(): Snapshot {
    const version = this.#version();
    if (version === this.#seen) return this.#latest;
    this.#seen = version;
    this.#latest = this.#readTables();
    return this.#latest;
  }

  close(): void {
    this.#database.close();
  }

  #readTables(): Snapshot {
    const [dispatches = [], claims = [], events = [], openings = []] = this.#all.map((read) => read());
    const claimOf = new Map(claims.map((row) => [row.dispatch, row]));
    const idsOf = Map.groupBy(events, (row) => row.dispatch);
    return {
      dispatches: new Map(
        dispatches.map(({ number, id, epoch, envelope }) => {
          const claim = (claimOf.get(number) ?? null) as StoredClaim | null;
          const ids = (idsOf.get(number) ?? []).map((row) => String(row.id));
          return [String(id), { number, epoch, envelope, ids, claim } as StoredDispatch];
        }),
      ),
      beats: new Map(openings.map(({ token, beat }) => [String(token), Number(beat)])),
    };
  }
}
