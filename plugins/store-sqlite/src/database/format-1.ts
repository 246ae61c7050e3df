import type { DatabaseSync } from 'node:sqlite';

/*
 * Format 1 had no checksums, no batches, no epochs and no heartbeats. It is read through views with the names and columns of
 * format 2. The first write migrates the database.
 */
const views = `
  CREATE TEMP VIEW head AS SELECT '' AS database_id, 0 AS tasks, 0 AS digest, 0 AS crc;
  CREATE TEMP VIEW tasks AS
    SELECT task_dir, 0 AS dispatches, 0 AS digest, 0 AS crc, task FROM main.tasks
    UNION ALL
    SELECT DISTINCT task_dir, 0, 0, 0, NULL FROM main.dispatches
    WHERE task_dir NOT IN (SELECT task_dir FROM main.tasks);
  CREATE TEMP VIEW dispatches AS
    SELECT number, task_dir, dispatch_id, '' AS started_at, 0 AS epoch, least_events AS acknowledged, has_event_ids, searchable_events,
      0 AS crc, envelope FROM main.dispatches;
  CREATE TEMP VIEW events AS SELECT dispatch, position, 0 AS batch, 0 AS crc, line FROM main.events;
  CREATE TEMP VIEW openings AS SELECT DISTINCT token, json_set(owner, '$.token', token) AS owner, 0 AS beat FROM main.writers;
  CREATE TEMP VIEW claims AS SELECT dispatch, 0 AS epoch, token FROM main.writers;
  CREATE TEMP VIEW accepted_losses AS SELECT 0 AS number, 0 AS dispatch, '' AS verification WHERE 0;
`;

/** Lets the statements of format 2 read a database of format 1. */
export function createViews(database: DatabaseSync): void {
  database.exec(views);
}

/** Ends the claim of a dispatch. */
export function endOldClaim(database: DatabaseSync, dispatch: number): void {
  database.prepare('DELETE FROM main.writers WHERE dispatch = ?').run(dispatch);
}
