import type { DatabaseSync, StatementSync } from 'node:sqlite';

type Value = string | number | null;

export interface Read<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  iterate(...values: Value[]): Iterable<Row>;
}

interface Write {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

export interface HeadRow {
  readonly databaseId: string;
  readonly tasks: number;
  readonly digest: number;
  readonly crc: number;
}

export interface TaskRow {
  readonly taskDir: string;
  readonly writtenAs: string;
  readonly dispatches: number;
  readonly digest: number;
  readonly crc: number;
  readonly task: string | null;
}

export interface DispatchRow {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly writtenAs: string;
  /** '': the start in the envelope is null. */
  readonly startedAt: string;
  readonly epoch: number;
  readonly acknowledged: number;
  readonly hasEventIds: number;
  readonly crc: number;
  readonly envelope: string;
}

export interface EventRow {
  readonly position: number;
  readonly batch: number;
  readonly crc: number;
  readonly line: string;
}

export interface HitRow {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly position: number;
}

export interface FoundRow {
  readonly number: number;
  readonly length: number;
  readonly acknowledged: number;
  readonly hasEventIds: number;
  readonly writtenAs: string;
  /** The task and the id in the row with the number, which SQLite found through an index. */
  readonly name: string | null;
}

export interface BacklogRow {
  readonly number: number;
  readonly taskDir: string;
  readonly dispatchId: string;
  /** How many events of it are in the index. */
  readonly searchable: number;
}

export interface ClaimRow {
  readonly epoch: number;
  readonly token: string;
  /** Null if the row of the opening is missing. */
  readonly owner: string | null;
  readonly beat: number | null;
}

const eventCount = '(SELECT coalesce(max(position) + 1, 0) FROM events WHERE dispatch = number)';

const taskColumns = 'task_dir AS taskDir, written_as AS writtenAs, dispatches, digest, crc, task';

export const dispatchColumns = `number, task_dir AS taskDir, dispatch_id AS dispatchId, written_as AS writtenAs, started_at AS startedAt, epoch,
  acknowledged, has_event_ids AS hasEventIds, crc, envelope`;

const hits = (where: string): string => `
  SELECT task_dir AS taskDir, dispatch_id AS dispatchId, position
  FROM event_search
  CROSS JOIN dispatches ON number = event_search.rowid >> 32
  CROSS JOIN events ON dispatch = number AND position = event_search.rowid & 0xffffffff
  WHERE event_search MATCH ? ${where}
  ORDER BY json_extract(line, '$.timestamp') DESC, task_dir DESC, dispatch_id DESC, position DESC LIMIT ?`;

export type Statements = ReturnType<typeof prepareStatements>;

/** Every statement of the store, compiled once. Those that write are compiled when they are first used. */
export function prepareStatements(database: DatabaseSync) {
  const prepare = new Preparation(database);
  return {
    ...headStatements(prepare),
    ...taskStatements(prepare),
    ...dispatchStatements(prepare),
    ...eventStatements(prepare),
    ...idStatements(prepare),
    ...claimStatements(prepare),
    ...lossStatements(prepare),
    ...searchStatements(prepare),
    ...changeStatements(prepare),
  };
}

class Preparation {
  readonly database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  read<Row>(sql: string): Read<Row> {
    return this.database.prepare(sql) as unknown as Read<Row>;
  }

  write(sql: string): Write {
    const { database } = this;
    let statement: StatementSync | undefined;
    return {
      run(...values) {
        statement ??= database.prepare(sql);
        return statement.run(...values);
      },
    };
  }
}

function headStatements(prepare: Preparation) {
  return {
    getHead: prepare.read<HeadRow>('SELECT database_id AS databaseId, tasks, digest, crc FROM head'),
    setHead: prepare.write('UPDATE head SET tasks = ?, digest = ?, crc = ?'),
  };
}

function taskStatements(prepare: Preparation) {
  return {
    findTask: prepare.read<TaskRow>(`SELECT ${taskColumns} FROM tasks WHERE task_dir = ?`),
    listTasks: prepare.read<TaskRow>(`SELECT ${taskColumns} FROM tasks`),
    putTask: prepare.write(
      'INSERT OR REPLACE INTO tasks (task_dir, written_as, dispatches, digest, crc, task) VALUES (?1, ?1, ?2, ?3, ?4, ?5)',
    ),
    deleteTask: prepare.write('DELETE FROM tasks WHERE task_dir = ?'),
  };
}

function dispatchStatements(prepare: Preparation) {
  return {
    insertDispatch: prepare.write(
      `INSERT INTO dispatches
         (number, task_dir, dispatch_id, written_as, started_at, epoch, acknowledged, has_event_ids, searchable_events, crc, envelope)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
    ),
    setEnvelope: prepare.write('UPDATE dispatches SET envelope = ?, crc = ? WHERE number = ?'),
    setStartedAt: prepare.write('UPDATE dispatches SET started_at = ? WHERE number = ?'),
    setEpoch: prepare.write('UPDATE dispatches SET epoch = ?, crc = ? WHERE number = ?'),
    findDispatch: prepare.read<FoundRow>(
      `SELECT number, ${eventCount} AS length, acknowledged, has_event_ids AS hasEventIds, written_as AS writtenAs,
         (SELECT task_dir || ' ' || dispatch_id FROM dispatches AS own WHERE own.number = found.number) AS name
       FROM dispatches AS found WHERE task_dir = ? AND dispatch_id = ?`,
    ),
    getDispatch: prepare.read<DispatchRow>(
      `SELECT ${dispatchColumns} FROM dispatches WHERE task_dir = ? AND dispatch_id = ?`,
    ),
    getDispatchNumbered: prepare.read<DispatchRow>(
      `SELECT ${dispatchColumns} FROM dispatches WHERE number = ?`,
    ),
    hasDispatch: prepare.read<{ number: number }>('SELECT number FROM dispatches WHERE number = ?'),
    listDispatches: prepare.read<DispatchRow>(`SELECT ${dispatchColumns} FROM dispatches WHERE task_dir = ?`),
    listAllDispatches: prepare.read<DispatchRow>(`SELECT ${dispatchColumns} FROM dispatches`),
    /** Wherever they are. */
    listWrittenIn: prepare.read<Pick<DispatchRow, 'number' | 'taskDir' | 'dispatchId' | 'writtenAs'>>(
      `SELECT number, task_dir AS taskDir, dispatch_id AS dispatchId, written_as AS writtenAs FROM dispatches NOT INDEXED
       WHERE substr(written_as, 1, length(?1) + 1) = ?1 || '/'`,
    ),
    listIds: prepare.read<{ dispatchId: string }>(
      'SELECT dispatch_id AS dispatchId FROM dispatches WHERE task_dir = ?',
    ),
    greatestNumber: prepare.read<{ number: number }>(
      `SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'dispatches'), 0),
                  coalesce((SELECT max(number) FROM dispatches), 0)) AS number`,
    ),
    deleteDispatch: prepare.write('DELETE FROM dispatches WHERE number = ?'),
  };
}

function eventStatements(prepare: Preparation) {
  return {
    /** Inserts nothing if the claim with the epoch has ended. Used for every event, so not through `write`. */
    insertEvent: lazily(() =>
      prepare.database.prepare(
        `INSERT INTO events (dispatch, position, batch, crc, line)
         SELECT ?1, ?2, ?3, ?4, ?5 FROM claims WHERE dispatch = ?1 AND epoch = ?6`,
      ),
    ),
    copyEvent: prepare.write(
      'INSERT INTO events (dispatch, position, batch, crc, line) VALUES (?, ?, ?, ?, ?)',
    ),
    getEvent: prepare.read<EventRow>(
      'SELECT position, batch, crc, line FROM events WHERE dispatch = ? AND position = ?',
    ),
    pageOfEvents: prepare.read<EventRow>(
      'SELECT position, batch, crc, line FROM events WHERE dispatch = ? AND position > ? ORDER BY position LIMIT ?',
    ),
    bytesOfEvents: prepare.read<{ bytes: number | null }>(
      'SELECT sum(octet_length(line)) AS bytes FROM events WHERE dispatch = ? AND position >= ? AND position < ?',
    ),
    sizesOfEvents: prepare.read<{ bytes: number }>(
      'SELECT octet_length(line) AS bytes FROM events WHERE dispatch = ? AND position >= ? AND position < ? ORDER BY position',
    ),
    deleteEvents: prepare.write('DELETE FROM events WHERE dispatch = ?'),
  };
}

function idStatements(prepare: Preparation) {
  return {
    setHasEventIds: prepare.write('UPDATE dispatches SET has_event_ids = 1, crc = ? WHERE number = ?'),
    getIdAt: prepare.read<{ id: string }>(
      `SELECT json_extract(line, '$.id') AS id FROM events WHERE dispatch = ? AND position = ?`,
    ),
    insertEventId: prepare.write('INSERT INTO event_ids (dispatch, id, position) VALUES (?, ?, ?)'),
    insertAllEventIds: prepare.write(
      `INSERT INTO event_ids (dispatch, id, position)
       SELECT dispatch, json_extract(line, '$.id'), position FROM events WHERE dispatch = ?`,
    ),
    findEventId: prepare.read<{ position: number }>(
      'SELECT position FROM event_ids WHERE dispatch = ? AND id = ?',
    ),
    greatestEventId: prepare.read<{ id: string | null }>(
      'SELECT max(id) AS id FROM event_ids WHERE dispatch = ?',
    ),
    deleteEventIds: prepare.write('DELETE FROM event_ids WHERE dispatch = ?'),
  };
}

function claimStatements(prepare: Preparation) {
  return {
    findClaim: prepare.read<ClaimRow>(
      `SELECT epoch, claims.token, owner, beat
       FROM claims LEFT JOIN openings ON openings.token = claims.token WHERE dispatch = ?`,
    ),
    putClaim: prepare.write('INSERT OR REPLACE INTO claims (dispatch, epoch, token) VALUES (?, ?, ?)'),
    deleteClaim: prepare.write('DELETE FROM claims WHERE dispatch = ?'),
    deleteClaimsOf: prepare.write('DELETE FROM claims WHERE token = ?'),
    /** Renews the heartbeat of an opening that has one: its timer may have stopped since. */
    putOpening: prepare.write(
      `INSERT INTO openings (token, owner, beat) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET beat = excluded.beat`,
    ),
    renewOpening: prepare.write('UPDATE openings SET beat = ? WHERE token = ?'),
    deleteOpening: prepare.write('DELETE FROM openings WHERE token = ?'),
    deleteIdleOpening: prepare.write(
      'DELETE FROM openings WHERE token = ? AND token NOT IN (SELECT token FROM claims)',
    ),
    keepEventCount: prepare.write(
      `UPDATE dispatches SET acknowledged = max(acknowledged, ${eventCount}) WHERE number = ?`,
    ),
    keepEventCountsOf: prepare.write(
      `UPDATE dispatches SET acknowledged = max(acknowledged, ${eventCount})
       WHERE number IN (SELECT dispatch FROM claims WHERE token = ?)`,
    ),
  };
}

function lossStatements(prepare: Preparation) {
  return {
    insertLoss: prepare.write(
      'INSERT INTO accepted_losses (number, dispatch, verification) VALUES (?, ?, ?)',
    ),
    moveLosses: prepare.write('UPDATE accepted_losses SET dispatch = ? WHERE dispatch = ?'),
    listLosses: prepare.read<{ number: number }>('SELECT number FROM accepted_losses WHERE dispatch = ?'),
    deleteLosses: prepare.write('DELETE FROM accepted_losses WHERE dispatch = ?'),
  };
}

function searchStatements(prepare: Preparation) {
  return {
    listSearchBacklog: prepare.read<BacklogRow>(
      `SELECT number, task_dir AS taskDir, dispatch_id AS dispatchId, searchable_events AS searchable FROM dispatches
       WHERE task_dir = coalesce(?, task_dir) AND searchable_events < ${eventCount}`,
    ),
    countSearchable: prepare.read<{ count: number }>(
      'SELECT searchable_events AS count FROM dispatches WHERE number = ?',
    ),
    setSearchable: prepare.write('UPDATE dispatches SET searchable_events = ? WHERE number = ?'),
    insertSearchText: prepare.write('INSERT INTO event_search (rowid, text) VALUES (? << 32 | ?, ?)'),
    /** The text at rowid 0, which belongs to no event. */
    findSearchText: prepare.read<{ rowid: number }>(
      'SELECT rowid FROM event_search WHERE event_search MATCH ? AND rowid = 0',
    ),
    deleteSearchTexts: prepare.write("INSERT INTO event_search (event_search) VALUES ('delete-all')"),
    resetSearchable: prepare.write('UPDATE dispatches SET searchable_events = 0'),
    deleteSearchText: prepare.write(
      'DELETE FROM event_search WHERE rowid BETWEEN ? << 32 AND ? << 32 | 0xffffffff',
    ),
    searchAll: prepare.read<HitRow>(hits('')),
    searchTask: prepare.read<HitRow>(hits('AND task_dir = ?')),
    searchDispatch: prepare.read<HitRow>(
      hits('AND event_search.rowid BETWEEN ? << 32 AND ? << 32 | 0xffffffff'),
    ),
  };
}

function changeStatements(prepare: Preparation) {
  return {
    dataVersion: prepare.read<{ version: number }>('SELECT data_version AS version FROM pragma_data_version'),
    fingerprint: prepare.read<{ fingerprint: string }>(
      `SELECT concat(number, ' ', (SELECT max(position) FROM events WHERE dispatch = number), ' ', envelope)
         AS fingerprint
       FROM dispatches WHERE task_dir = ? AND dispatch_id = ?`,
    ),
  };
}

function lazily<T>(create: () => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create();
    return created;
  };
}
