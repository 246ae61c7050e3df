import type { RemainsScope } from '@hansard/provider';
import { parseLease, systemProcesses } from '@hansard/store-kit';
import type { Statement } from './database.ts';
import type { Tables } from './tables.ts';

/** The tables with recorded text. */
const recorded = ['tasks', 'dispatches', 'events', 'event_words'] as const;

/**
 * Replaces the statistics of the tables, which have whole rows in them: `pg_stats` shows them to every reader of a table. ANALYZE keeps those
 * of an empty table, so each table has one row meanwhile, which only this transaction sees.
 * @returns what can still contain old content, in words
 */
export async function removeRemains(tables: Tables): Promise<string[]> {
  const { quoted } = tables;
  if (!(await tables.exist())) return [];
  const mayAnalyze = await tables.transaction(async (session) => {
    await session.run(statement(oneRowEach(quoted)));
    for (const table of recorded) await session.run(statement(`ANALYZE ${quoted}.${table}`));
    await session.run(statement(withoutThem(quoted)));
    const { rows } = await session.run<{ isOwner: boolean }>(statement(ownership(quoted)));
    return rows[0]?.isOwner === true;
  });
  const remains = placesOutsideTables(tables);
  return mayAnalyze ? remains : [statisticsOf(tables), ...remains];
}

/** What can contain old content after a rewrite, in words. */
export function placesAfterRewrite(tables: Tables): string[] {
  return [statisticsOf(tables), ...placesOutsideTables(tables)];
}

function statisticsOf({ quoted, name }: Tables): string {
  const names = recorded.map((table) => `${quoted}.${table}`).join(', ');
  return `The statistics of the tables (pg_stats) of ${name}, until the owner of the tables runs \`ANALYZE ${names}\`, as \`hansard secrets redact\` does at its end.`;
}

function placesOutsideTables({ quoted, name }: Tables): string[] {
  const names = recorded.map((table) => `${quoted}.${table}`).join(', ');
  return [
    `The words of the index event_words_by_word of ${name}, until \`REINDEX INDEX CONCURRENTLY ${quoted}.event_words_by_word\`.`,
    `Deleted rows of ${name}, until \`VACUUM FULL ${names}\`, which locks the tables, or until VACUUM has removed them and their pages are used again.`,
    `Deleted rows of pg_statistic in the database of ${name}, until a superuser runs \`VACUUM FULL pg_statistic\`.`,
    'The write-ahead log, standbys and backups of the server.',
  ];
}

/** The rows that no read shows, in words. Nothing changes. */
export async function findRemains(tables: Tables, { taskDir, dispatchId }: RemainsScope): Promise<string[]> {
  const { quoted, name } = tables;
  const losses = await tables.rows(statement<LossesRow>(acceptedLosses(quoted)), [
    taskDir ?? null,
    dispatchId ?? null,
  ]);
  const kept = losses.map((of) =>
    of.dispatchId === null
      ? `${name}, ${of.losses} accepted losses of a dispatch that is missing: keep a copy, and delete them from ${quoted}.accepted_losses.`
      : `${name}, the damaged rows of ${of.losses} accepted losses of dispatch ${of.dispatchId} of ${of.taskDir}: delete the dispatch to remove them.`,
  );
  if (taskDir !== undefined) return kept;
  for (const table of ['events', 'event_words'] as const) {
    const rows = await tables.rows(statement<{ number: string }>(numbersOfNothing(quoted, table)), []);
    const list =
      rows
        .slice(0, 10)
        .map(({ number }) => number)
        .join(', ') + (rows.length > 10 ? ' …' : '');
    if (rows.length > 0)
      kept.push(
        `${name}, rows of ${table} under numbers that no dispatch has (${list}): keep a copy, and delete them from ${quoted}.${table}.`,
      );
  }
  const openings = await tables.rows(statement<OpeningRow>(idleOpenings(quoted)), []);
  for (const { token, owner } of openings) {
    const lease = parseLease(owner);
    if (lease !== null && systemProcesses.isRunning(lease.owner)) continue;
    kept.push(
      `${name}, the heartbeat ${token} of a process that has exited: delete its row from ${quoted}.openings.`,
    );
  }
  return kept;
}

interface LossesRow {
  /** Null: the dispatch is missing. */
  readonly taskDir: string | null;
  readonly dispatchId: string | null;
  readonly losses: string;
}

interface OpeningRow {
  readonly token: string;
  readonly owner: string;
}

function acceptedLosses(schema: string): string {
  return `SELECT task_dir AS "taskDir", dispatch_id AS "dispatchId", count(*)::text AS losses
    FROM ${schema}.accepted_losses l LEFT JOIN ${schema}.dispatches d ON d.number = l.dispatch
    WHERE ($1::text IS NULL OR task_dir = $1) AND ($2::text IS NULL OR dispatch_id = $2)
    GROUP BY l.dispatch, task_dir, dispatch_id ORDER BY 1, 2`;
}

/** Looks for the least number above each one, because a look at each row would read every event. */
function numbersOfNothing(schema: string, table: string): string {
  const next = (above: string) => `SELECT min(dispatch) FROM ${schema}.${table} WHERE dispatch > ${above}`;
  return `WITH RECURSIVE found (number) AS (
      (${next('0')}) UNION ALL SELECT (${next('found.number')}) FROM found WHERE found.number IS NOT NULL)
    SELECT number::text AS number FROM found WHERE number IS NOT NULL
      AND NOT EXISTS (SELECT FROM ${schema}.dispatches d WHERE d.number = found.number)
      AND NOT EXISTS (SELECT FROM ${schema}.accepted_losses l WHERE l.number = found.number)
    ORDER BY found.number`;
}

function idleOpenings(schema: string): string {
  return `SELECT token, owner FROM ${schema}.openings o
    WHERE NOT EXISTS (SELECT FROM ${schema}.dispatches d WHERE d.writer = o.token) ORDER BY token`;
}

function oneRowEach(schema: string): string {
  return `
    INSERT INTO ${schema}.tasks (task_dir, checksum, record) VALUES ('', 0, '');
    INSERT INTO ${schema}.dispatches (task_dir, dispatch_id, written_as, started_at, status, epoch, checksum, envelope)
      VALUES ('', '', '', '', '', 0, '', '');
    INSERT INTO ${schema}.events (dispatch, position, checksum, id, line) VALUES (0, 0, 0, '', '');
    INSERT INTO ${schema}.event_words (dispatch, position, at, words) VALUES (0, 0, '', '{}')`;
}

function withoutThem(schema: string): string {
  return `
    DELETE FROM ${schema}.tasks WHERE task_dir = '';
    DELETE FROM ${schema}.dispatches WHERE task_dir = '';
    DELETE FROM ${schema}.events WHERE dispatch = 0;
    DELETE FROM ${schema}.event_words WHERE dispatch = 0`;
}

/** Others than the owner get a warning from ANALYZE, which then does nothing. */
function ownership(schema: string): string {
  return `SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS "isOwner" FROM pg_class
    WHERE oid IN (${recorded.map((table) => `'${schema}.${table}'::regclass`).join(', ')})`;
}

function statement<Row = never>(text: string): Statement<Row> {
  return { name: '', text };
}
