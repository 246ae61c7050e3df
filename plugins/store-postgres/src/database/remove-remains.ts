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

function oneRowEach(schema: string): string {
  return `
    INSERT INTO ${schema}.tasks (task_dir, checksum, record) VALUES ('', 0, '');
    INSERT INTO ${schema}.dispatches (task_dir, dispatch_id, started_at, status, epoch, checksum, envelope)
      VALUES ('', '', '', '', 0, '', '');
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
