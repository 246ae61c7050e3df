import type { StoredEvent } from '@hansard/store-kit';
import { mostPageBytes } from '@hansard/store-kit';
import type { Statement } from './database.ts';

/** A number of PostgreSQL's `bigint`, as its driver gives it. */
export type BigInt64 = string;

export interface TaskRow {
  readonly taskDir: string;
  readonly checksum: number | null;
  /** Null for a task with dispatches and without a record. */
  readonly record: string | null;
}

export interface DispatchRow {
  readonly number: BigInt64;
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly writtenAs: string;
  /** '': the start in the envelope is null. */
  readonly startedAt: string;
  readonly status: string;
  readonly checksum: string;
  readonly envelope: string;
}

/** With what a listing says about its events. */
export interface ListedRow extends DispatchRow {
  /** Whether the row stands for all dispatches that were written as another task. */
  readonly isTask: boolean;
  readonly hasEvents: boolean;
  /** The time of the last event; null without events, or if it cannot be read. */
  readonly lastAt: string | null;
}

/** With the claim of a dispatch. */
export interface ClaimedRow extends DispatchRow {
  readonly epoch: BigInt64;
  /** The token of the opening that has claimed the dispatch, or null. */
  readonly writer: string | null;
  /** Null if nobody has claimed it, or if the row of the opening is missing. */
  readonly owner: string | null;
  readonly beat: BigInt64 | null;
}

/** With the version of the tables at that moment. */
export interface LockedRow extends ClaimedRow {
  readonly tablesVersion: number | null;
}

interface HeadRow {
  readonly writtenAs: string;
  readonly number: BigInt64;
  readonly writer: string | null;
  readonly epoch: BigInt64;
  readonly acknowledged: number;
  readonly length: number;
  /** The checksum of the last event; null without events. */
  readonly checksum: number | null;
}

export type EventRow = StoredEvent;

/** A row of a page. The columns of the event are null if the page has no event. */
export interface PageRow {
  readonly writtenAs: string;
  readonly number: BigInt64;
  readonly acknowledged: number;
  readonly length: number;
  readonly position: number | null;
  readonly checksum: number | null;
  readonly line: string | null;
}

export interface HitRow {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly writtenAs: string;
  readonly position: number;
  readonly checksum: number;
  readonly line: string;
  /** The checksum of the event before it. */
  readonly previous: number | null;
}

/** Without a hit, there is one row. */
export interface FoundRow extends Partial<Omit<HitRow, 'line'>> {
  readonly line: string | null;
  /** Whether the index has not all events of the scope. */
  readonly isBehind: boolean;
  /** Whether it has none of a dispatch. */
  readonly isNew: boolean;
}

export interface BacklogRow {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly writtenAs: string;
  readonly number: BigInt64;
  readonly first: number;
}

export type Statements = ReturnType<typeof statementsFor>;

/** Every statement of the store. Each names its schema, because a pooler shares connections between clients. */
export function statementsFor(schema: string) {
  const parts = partsFor(schema);
  return {
    ...named({
      ...taskStatements(schema),
      ...dispatchStatements(parts),
      ...claimStatements(parts),
      ...eventStatements(parts),
      ...rewriteStatements(parts),
      ...searchStatements(parts),
      ...changeStatements(parts),
    }),
    /** The last parameter, after those of the conditions, is the limit. */
    listDispatches: ({ conditions, isWhole, order }: ListingClauses): Statement<ListedRow> =>
      statement(
        `SELECT ${parts.columns}, ${isWhole ? 'false' : parts.renamed('>')} AS "isTask", e.line IS NOT NULL AS "hasEvents",
           substring(left(e.line, 2000) FROM '^\\{"id":"[^"]*","type":"[^"]*",(?:"v":\\d+,)?"timestamp":"([^"]*)"') AS "lastAt"
         FROM ${schema}.dispatches d LEFT JOIN LATERAL (
           SELECT line FROM ${schema}.events WHERE dispatch = d.number ORDER BY position DESC LIMIT 1) e ON true
         WHERE ${[...conditions, isWhole ? parts.whole : `NOT (${parts.whole}) AND NOT ${parts.renamed('<')}`].join(' AND ')}
         ORDER BY ${order} LIMIT $${conditions.join().split('$').length}`,
      ),
  };
}

type Parts = ReturnType<typeof partsFor>;

/** What several statements are made of. */
function partsFor(schema: string) {
  const length = (dispatch: string) =>
    `(SELECT coalesce(max(position) + 1, 0) FROM ${schema}.events WHERE dispatch = ${dispatch})`;
  const columns = `d.number, d.task_dir AS "taskDir", d.dispatch_id AS "dispatchId", d.written_as AS "writtenAs", d.started_at AS "startedAt", d.status,
    d.checksum, d.envelope`;
  // As `envelopeChecksum` computes it.
  const hasChecksum = (row: string) => `${row}.checksum = encode(sha256(convert_to(
    concat_ws(E'\\n', ${row}.written_as, ${row}.started_at, ${row}.status, ${row}.envelope), 'UTF8')), 'hex')`;
  const whole = `${hasChecksum('d')} AND d.written_as = d.task_dir || '/' || d.dispatch_id`;
  // Whether another dispatch of the place, by its id, was written as the same other task.
  const renamed = (direction: '<' | '>') => {
    const wrongTask = (row: string) =>
      `${row}.written_as <> ${row}.task_dir || '/' || ${row}.dispatch_id AND right(${row}.written_as, length(${row}.dispatch_id) + 1) = '/' || ${row}.dispatch_id AND ${hasChecksum(row)}`;
    const task = (row: string) => `left(${row}.written_as, -length(${row}.dispatch_id) - 1)`;
    return `(CASE WHEN ${wrongTask('d')} THEN EXISTS (SELECT FROM ${schema}.dispatches o
      WHERE o.task_dir = d.task_dir AND o.dispatch_id ${direction} d.dispatch_id AND ${wrongTask('o')} AND ${task('o')} = ${task('d')}) ELSE false END)`;
  };
  const claimsOfTask = `${columns}, d.epoch, d.writer, o.owner, o.beat
    FROM ${schema}.dispatches d LEFT JOIN ${schema}.openings o ON o.token = d.writer WHERE d.task_dir = $1`;
  const claim = `${claimsOfTask} AND d.dispatch_id = $2`;
  // The rows from the position `start`, with the number of events at the same moment.
  const rowsFrom = (start: string, limit: string) => `
      SELECT position, checksum, line FROM ${schema}.events
      WHERE dispatch = d.number AND position >= ${start} ORDER BY position LIMIT ${limit}`;
  // The row before the page does not count, and the first of the page always fits.
  const withinBytes = (found: string, first: string) => `
      SELECT position, checksum, line FROM (
        SELECT position, checksum, line, sum(CASE WHEN position < ${first} THEN 0 ELSE octet_length(line) END)
          OVER (ORDER BY position) AS bytes FROM (${found}) r) s
      WHERE position <= ${first} OR bytes <= ${mostPageBytes}`;
  const page = (start: string, limit: string, first?: string) => `
    SELECT d.written_as AS "writtenAs", d.number, d.acknowledged, m.length, e.position, e.checksum, e.line
    FROM ${schema}.dispatches d
    CROSS JOIN LATERAL (SELECT ${length('d.number')} AS length) m
    LEFT JOIN LATERAL (
      ${first === undefined ? rowsFrom(start, limit) : withinBytes(rowsFrom(start, limit), first)}) e ON true
    WHERE d.task_dir = $1 AND d.dispatch_id = $2 ORDER BY e.position`;
  // Lines hold no line end, and ids no comma.
  const rows = (lines: string, ids: string, checksums: string) => `ROWS FROM (
      string_to_table(${lines}, E'\\n'), string_to_table(${ids}, ','), string_to_table(${checksums}, ','))
      WITH ORDINALITY AS r (line, id, checksum, row)`;
  /** `inScope`: a condition on the dispatch. With no hit, one row says what is not in the index. */
  const hits = (inScope: string) => `
    SELECT b."isBehind", b."isNew", h.* FROM (
      SELECT count(*) > 0 AS "isBehind", count(*) FILTER (WHERE searchable_events = 0) > 0 AS "isNew"
      FROM ${schema}.dispatches d WHERE searchable_events < ${length('d.number')} AND ${inScope}) b
    LEFT JOIN LATERAL (
    SELECT d.task_dir AS "taskDir", d.dispatch_id AS "dispatchId", d.written_as AS "writtenAs", e.position, e.checksum, e.line,
      (SELECT checksum FROM ${schema}.events p WHERE p.dispatch = e.dispatch AND p.position = e.position - 1) AS previous
    FROM ${schema}.event_words w
    JOIN ${schema}.dispatches d ON d.number = w.dispatch
    JOIN ${schema}.events e ON e.dispatch = w.dispatch AND e.position = w.position
    WHERE w.words @> string_to_array($1, ' ') AND ${inScope}
    ORDER BY w.at DESC, d.task_dir DESC, d.dispatch_id DESC, e.position DESC LIMIT $2) h ON true`;
  return { schema, length, columns, whole, renamed, claimsOfTask, claim, page, rows, hits };
}

function taskStatements(schema: string) {
  return {
    insertTask: statement(
      `INSERT INTO ${schema}.tasks (task_dir, checksum, record) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    ),
    replaceTask: statement(
      `UPDATE ${schema}.tasks SET version = version + 1, checksum = $2, record = $3 WHERE task_dir = $1`,
    ),
    lockTask: statement<TaskRow>(
      `SELECT task_dir AS "taskDir", checksum, record FROM ${schema}.tasks WHERE task_dir = $1 FOR UPDATE`,
    ),
    findTask: statement<TaskRow>(
      `SELECT task_dir AS "taskDir", checksum, record FROM ${schema}.tasks WHERE task_dir = $1`,
    ),
    listTasks: statement<TaskRow>(
      `SELECT coalesce(t.task_dir, d.task_dir) AS "taskDir", t.checksum, t.record
       FROM ${schema}.tasks t FULL JOIN (SELECT DISTINCT task_dir FROM ${schema}.dispatches) d USING (task_dir)`,
    ),
  };
}

function dispatchStatements({ schema, columns }: Parts) {
  return {
    tablesVersion: statement<{ tablesVersion: number }>(
      `SELECT version AS "tablesVersion" FROM ${schema}.meta`,
    ),
    insertDispatch: statement<{ number: BigInt64 }>(
      `INSERT INTO ${schema}.dispatches (task_dir, dispatch_id, written_as, started_at, status, writer, epoch, checksum, envelope)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING number`,
    ),
    getDispatch: statement<DispatchRow>(
      `SELECT ${columns} FROM ${schema}.dispatches d WHERE d.task_dir = $1 AND d.dispatch_id = $2`,
    ),
    getDispatches: statement<DispatchRow>(
      `SELECT ${columns} FROM ${schema}.dispatches d WHERE d.task_dir = $1`,
    ),
    setEnvelope: statement(
      `UPDATE ${schema}.dispatches SET version = version + 1, started_at = $2, status = $3, checksum = $4, envelope = $5
       WHERE number = $1`,
    ),
    deleteDispatch: statement(`DELETE FROM ${schema}.dispatches WHERE number = $1`),
    deleteEvents: statement(
      `DELETE FROM ${schema}.events
       WHERE dispatch = $1 OR dispatch IN (SELECT number FROM ${schema}.accepted_losses WHERE dispatch = $1)`,
    ),
    deleteOwnEvents: statement(`DELETE FROM ${schema}.events WHERE dispatch = $1`),
    deleteWords: statement(`DELETE FROM ${schema}.event_words WHERE dispatch = $1`),
  };
}

function claimStatements({ schema, length, claimsOfTask, claim }: Parts) {
  return {
    findClaim: statement<ClaimedRow>(`SELECT ${claim}`),
    findClaims: statement<ClaimedRow>(
      `SELECT ${claimsOfTask} AND d.dispatch_id = ANY (string_to_array($2, ','))`,
    ),
    /** Waits for an append under way, and lets no further one begin before the transaction ends. */
    lockDispatch: statement<LockedRow>(
      `SELECT (SELECT version FROM ${schema}.meta) AS "tablesVersion", ${claim} FOR UPDATE OF d`,
    ),
    takeClaim: statement<{ epoch: BigInt64 }>(
      `UPDATE ${schema}.dispatches SET writer = $2, epoch = epoch + 1 WHERE number = $1 RETURNING epoch`,
    ),
    endClaim: statement(`UPDATE ${schema}.dispatches SET writer = NULL WHERE number = $1`),
    release: statement(
      `UPDATE ${schema}.dispatches d SET writer = NULL, acknowledged = greatest(acknowledged, ${length('d.number')})
       WHERE task_dir = $1 AND dispatch_id = $2 AND writer = $3`,
    ),
    releaseAll: statement(
      `UPDATE ${schema}.dispatches d SET writer = NULL, acknowledged = greatest(acknowledged, ${length('d.number')})
       WHERE writer = $1`,
    ),
    keepLength: statement(
      `UPDATE ${schema}.dispatches SET acknowledged = greatest(acknowledged, ${length('$1')}) WHERE number = $1`,
    ),
    /** A new value each time, including after the row was removed and written again by another beat. */
    beat: statement(
      `INSERT INTO ${schema}.openings (token, owner, beat) VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
       ON CONFLICT (token) DO UPDATE SET beat = openings.beat + 1`,
    ),
    deleteOpening: statement(`DELETE FROM ${schema}.openings WHERE token = $1`),
    deleteIdleOpening: statement(
      `DELETE FROM ${schema}.openings o
       WHERE token = $1 AND NOT EXISTS (SELECT FROM ${schema}.dispatches d WHERE d.writer = o.token)`,
    ),
  };
}

function eventStatements({ schema, page, rows }: Parts) {
  return {
    getHead: statement<HeadRow>(
      `SELECT d.written_as AS "writtenAs", d.number, d.writer, d.epoch, d.acknowledged, coalesce(e.position + 1, 0) AS length, e.checksum
       FROM ${schema}.dispatches d LEFT JOIN LATERAL (
         SELECT position, checksum FROM ${schema}.events WHERE dispatch = d.number ORDER BY position DESC LIMIT 1) e ON true
       WHERE d.task_dir = $1 AND d.dispatch_id = $2`,
    ),
    /**
     * Inserts the rows only while the claim with the epoch exists and the last event is the one that the writer knows. The lock is
     * held until the commit, so that a takeover of the claim waits for it.
     */
    append: statement(
      `WITH claim AS MATERIALIZED (
         SELECT set_config('synchronous_commit', $8, true) FROM ${schema}.dispatches
         WHERE number = $1 AND epoch = $2 AND coalesce(writer, '') = $7 FOR KEY SHARE)
       INSERT INTO ${schema}.events (dispatch, position, checksum, id, line)
       SELECT $1, $3::int + row - 1, r.checksum::int, id, line FROM ${rows('$4', '$5', '$6')}
       WHERE EXISTS (SELECT FROM claim) AND ($3::int = 0
         OR EXISTS (SELECT FROM ${schema}.events WHERE dispatch = $1 AND position = $3::int - 1 AND checksum = $9::int))`,
    ),
    /** The same, for a role that may not insert. */
    callAppend: statement<{ added: number }>(
      `SELECT ${schema}.append($1::bigint, $2::bigint, $3::integer, $4, $5, $6, $7, $8, $9::integer) AS added`,
    ),
    findEvents: statement<EventRow>(
      `SELECT position, checksum, id, line FROM ${schema}.events
       WHERE dispatch = $1 AND id = ANY (string_to_array($2, ','))`,
    ),
    pageOfEvents: statement<PageRow>(page('$3::bigint', '$4::bigint', '$5::bigint')),
    lastEvents: statement<PageRow>(page('m.length - $3::bigint', '$3::bigint')),
    /** For a scan of the rows of one number, whatever they contain. */
    scanEvents: statement<EventRow>(
      `SELECT position, checksum, id, line FROM ${schema}.events
       WHERE dispatch = $1 AND position >= $2 ORDER BY position LIMIT $3`,
    ),
  };
}

function rewriteStatements({ schema, rows }: Parts) {
  return {
    insertEvents: statement(
      `INSERT INTO ${schema}.events (dispatch, position, checksum, id, line)
       SELECT $1, $2::int + row - 1, r.checksum::int, id, line
       FROM ${rows('$3', '$4', '$5')}`,
    ),
    insertLoss: statement(
      `INSERT INTO ${schema}.accepted_losses (number, dispatch, verification) VALUES ($1, $2, $3)`,
    ),
    moveLosses: statement(`UPDATE ${schema}.accepted_losses SET dispatch = $2 WHERE dispatch = $1`),
    deleteLosses: statement(`DELETE FROM ${schema}.accepted_losses WHERE dispatch = $1`),
  };
}

function searchStatements({ schema, length, hits }: Parts) {
  return {
    listBacklog: statement<BacklogRow>(
      `SELECT number, searchable_events AS first, task_dir AS "taskDir", dispatch_id AS "dispatchId", written_as AS "writtenAs"
       FROM ${schema}.dispatches d WHERE ($1::text IS NULL OR task_dir = $1) AND ($2::text IS NULL OR dispatch_id = $2)
         AND searchable_events < ${length('d.number')} ORDER BY number`,
    ),
    lockBacklog: statement<BacklogRow>(
      `SELECT number, searchable_events AS first, task_dir AS "taskDir", dispatch_id AS "dispatchId", written_as AS "writtenAs"
       FROM ${schema}.dispatches WHERE number = $1 FOR NO KEY UPDATE`,
    ),
    insertWords: statement(
      `INSERT INTO ${schema}.event_words (dispatch, position, at, words)
       SELECT $1, $2::int + row - 1, at, string_to_array(coalesce(words, ''), ' ')
       FROM ROWS FROM (string_to_table($3, ','), string_to_table($4, E'\\n')) WITH ORDINALITY AS r (at, words, row)
       ON CONFLICT DO NOTHING`,
    ),
    /** The row of dispatch -1, which does not exist. */
    findWordRule: statement<{ position: number }>(
      `SELECT position FROM ${schema}.event_words WHERE dispatch = -1 AND words @> ARRAY[$1]`,
    ),
    insertWordRule: statement<{ isOld: boolean }>(
      `INSERT INTO ${schema}.event_words (dispatch, position, at, words) VALUES (-1, 0, '', ARRAY[$1])
       ON CONFLICT DO NOTHING
       RETURNING EXISTS (SELECT FROM ${schema}.event_words WHERE dispatch >= 0) AS "isOld"`,
    ),
    resetSearchable: statement(
      `UPDATE ${schema}.dispatches SET searchable_events = 0 WHERE searchable_events > 0`,
    ),
    deleteOldWords: statement(`DELETE FROM ${schema}.event_words WHERE dispatch >= 0`),
    setSearchable: statement(`UPDATE ${schema}.dispatches SET searchable_events = $2 WHERE number = $1`),
    /** The hits, and at the same moment whether events are not in the index, also of a dispatch of which it has none. */
    search: statement<FoundRow>(
      hits('($3::text IS NULL OR d.task_dir = $3) AND ($4::text IS NULL OR d.dispatch_id = $4)'),
    ),
  };
}

function changeStatements({ schema, length }: Parts) {
  return {
    notify: statement("SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"),
    /** A text that changes with every change in a scope, for connections that cannot listen. */
    fingerprint: statement<{ fingerprint: string }>(
      `SELECT concat_ws(' ', count(*), sum(number), sum(version), sum(${length('d.number')}),
         (SELECT concat_ws(' ', count(*), sum(version)) FROM ${schema}.tasks
          WHERE $2::text IS NULL AND ($1::text IS NULL OR task_dir = $1))) AS fingerprint
       FROM ${schema}.dispatches d
       WHERE ($1::text IS NULL OR task_dir = $1) AND ($2::text IS NULL OR dispatch_id = $2)`,
    ),
  };
}

interface ListingClauses {
  readonly conditions: readonly string[];
  /** Whether the envelopes have their checksums. */
  readonly isWhole: boolean;
  readonly order: string;
}

function statement<Row = never>(text: string): Statement<Row> {
  return { name: '', text };
}

/** Gives each statement the name of its key, under which a connection prepares it once. */
function named<T extends Record<string, Statement<unknown>>>(statements: T): T {
  const entries = Object.entries(statements).map(([key, { text }]) => [
    key,
    { name: `hansard_${key}`, text },
  ]);
  return Object.fromEntries(entries) as T;
}
