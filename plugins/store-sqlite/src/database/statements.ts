import type { DatabaseSync } from 'node:sqlite';

type Value = string | number;

interface Read<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  iterate(...values: Value[]): Iterable<Row>;
}

interface Write {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

export interface DispatchRow {
  readonly number: number;
  readonly dispatchId: string;
  readonly envelope: string;
}

export interface LineRow {
  readonly position: number;
  readonly line: string;
}

export interface HitRow extends LineRow {
  readonly dispatchId: string;
}

export interface FoundRow {
  readonly number: number;
  readonly length: number;
  readonly leastEvents: number;
  readonly hasEventIds: number;
}

export interface BacklogRow {
  readonly number: number;
  readonly dispatchId: string;
  readonly length: number;
}

const eventCount = '(SELECT coalesce(max(position) + 1, 0) FROM events WHERE dispatch = number)';

const hits = (where: string): string => `
  SELECT dispatch_id AS dispatchId, position, line
  FROM event_search
  CROSS JOIN dispatches ON number = event_search.rowid >> 32
  CROSS JOIN events ON dispatch = number AND position = event_search.rowid & 0xffffffff
  WHERE event_search MATCH ? AND task_dir = ? ${where}
  ORDER BY json_extract(line, '$.timestamp') DESC, dispatch_id DESC, position DESC LIMIT ?`;

export type Statements = ReturnType<typeof prepareStatements>;

/** Every statement of the store, compiled once. */
export function prepareStatements(database: DatabaseSync) {
  const read = <Row>(sql: string) => database.prepare(sql) as unknown as Read<Row>;
  const write = (sql: string) => database.prepare(sql) as Write;
  return {
    insertDispatch: write(
      'INSERT INTO dispatches (task_dir, dispatch_id, envelope) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    setEnvelope: write('UPDATE dispatches SET envelope = ? WHERE number = ?'),
    findDispatch: read<FoundRow>(
      `SELECT number, ${eventCount} AS length, least_events AS leastEvents, has_event_ids AS hasEventIds
       FROM dispatches WHERE task_dir = ? AND dispatch_id = ?`,
    ),
    getDispatch: read<DispatchRow>(
      'SELECT number, dispatch_id AS dispatchId, envelope FROM dispatches WHERE task_dir = ? AND dispatch_id = ?',
    ),
    listDispatches: read<DispatchRow>(
      'SELECT number, dispatch_id AS dispatchId, envelope FROM dispatches WHERE task_dir = ?',
    ),
    deleteDispatch: write('DELETE FROM dispatches WHERE number = ?'),

    insertEvent: write('INSERT INTO events (dispatch, position, line) VALUES (?, ?, ?)'),
    getLine: read<LineRow>('SELECT position, line FROM events WHERE dispatch = ? AND position = ?'),
    pageOfLines: read<LineRow>(
      'SELECT position, line FROM events WHERE dispatch = ? AND position > ? ORDER BY position LIMIT ?',
    ),
    deleteEvents: write('DELETE FROM events WHERE dispatch = ?'),

    setHasEventIds: write('UPDATE dispatches SET has_event_ids = 1 WHERE number = ?'),
    getIdAt: read<{ id: string }>(
      `SELECT json_extract(line, '$.id') AS id FROM events WHERE dispatch = ? AND position = ?`,
    ),
    insertEventId: write('INSERT INTO event_ids (dispatch, id, position) VALUES (?, ?, ?)'),
    insertAllEventIds: write(
      `INSERT INTO event_ids (dispatch, id, position)
       SELECT dispatch, json_extract(line, '$.id'), position FROM events WHERE dispatch = ?`,
    ),
    findEventId: read<{ position: number }>('SELECT position FROM event_ids WHERE dispatch = ? AND id = ?'),
    greatestEventId: read<{ id: string | null }>('SELECT max(id) AS id FROM event_ids WHERE dispatch = ?'),
    deleteEventIds: write('DELETE FROM event_ids WHERE dispatch = ?'),

    getLease: read<{ token: string; owner: string }>('SELECT token, owner FROM writers WHERE dispatch = ?'),
    putLease: write('INSERT OR REPLACE INTO writers (dispatch, token, owner) VALUES (?, ?, ?)'),
    keepEventCount: write(`UPDATE dispatches SET least_events = ${eventCount} WHERE number = ?`),
    keepEventCountsOf: write(
      `UPDATE dispatches SET least_events = ${eventCount}
       WHERE number IN (SELECT dispatch FROM writers WHERE token = ?)`,
    ),
    deleteLease: write('DELETE FROM writers WHERE dispatch = ?'),
    deleteLeasesOf: write('DELETE FROM writers WHERE token = ?'),

    putTask: write('INSERT OR REPLACE INTO tasks (task_dir, task) VALUES (?, ?)'),
    getTask: read<{ task: string }>('SELECT task FROM tasks WHERE task_dir = ?'),
    listTasks: read<{ taskDir: string; task: string | null }>(
      `SELECT task_dir AS taskDir, task FROM tasks
       UNION ALL
       SELECT DISTINCT task_dir, NULL FROM dispatches WHERE task_dir NOT IN (SELECT task_dir FROM tasks)`,
    ),

    listSearchBacklog: read<BacklogRow>(
      `SELECT number, dispatch_id AS dispatchId, ${eventCount} AS length FROM dispatches
       WHERE task_dir = ? AND searchable_events < ${eventCount}`,
    ),
    countSearchable: read<{ count: number }>(
      'SELECT searchable_events AS count FROM dispatches WHERE number = ?',
    ),
    setSearchable: write('UPDATE dispatches SET searchable_events = ? WHERE number = ?'),
    insertSearchText: write('INSERT INTO event_search (rowid, text) VALUES (? << 32 | ?, ?)'),
    deleteSearchText: write('DELETE FROM event_search WHERE rowid BETWEEN ? << 32 AND ? << 32 | 0xffffffff'),
    searchTask: read<HitRow>(hits('')),
    searchDispatch: read<HitRow>(hits('AND event_search.rowid BETWEEN ? << 32 AND ? << 32 | 0xffffffff')),

    dataVersion: read<{ version: number }>('SELECT data_version AS version FROM pragma_data_version'),
    fingerprint: read<{ fingerprint: string }>(
      `SELECT concat(number, ' ', (SELECT max(position) FROM events WHERE dispatch = number), ' ', envelope)
         AS fingerprint
       FROM dispatches WHERE task_dir = ? AND dispatch_id = ?`,
    ),
  };
}
