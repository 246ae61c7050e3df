import { quoteName, tablesSql } from './database/schema.ts';

export interface SetupSqlOptions {
  /** Default `hansard`. */
  readonly schema?: string;
  /** The role of the processes that record. It can never change or delete an event. */
  readonly writer?: string;
  /** The role of those that only read. */
  readonly reader?: string;
}

/**
 * The SQL with which the owner of a database creates the tables of a store, and grants the rights to roles that exist. Run it once, with
 * `psql`, and set `createTables: false` for the writers.
 */
export function setupSql({ schema = 'hansard', writer, reader }: SetupSqlOptions = {}): string {
  const quoted = quoteName(schema);
  const grants: string[] = [];
  for (const role of [writer, reader])
    if (role !== undefined)
      grants.push(
        `GRANT USAGE ON SCHEMA ${quoted} TO ${quoteName(role)};`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA ${quoted} TO ${quoteName(role)};`,
      );
  if (writer !== undefined) {
    const role = quoteName(writer);
    const on = (...tables: readonly string[]) => tables.map((table) => `${quoted}.${table}`).join(', ');
    grants.push(
      `GRANT INSERT ON ${on('tasks', 'dispatches', 'events', 'openings', 'event_words')} TO ${role};`,
      `GRANT UPDATE ON ${on('tasks', 'dispatches', 'openings')} TO ${role};`,
      `GRANT DELETE ON ${on('openings')} TO ${role};`,
    );
  }
  return `BEGIN;${tablesSql(schema)}\n${[...grants, 'COMMIT;'].join('\n')}\n`;
}
