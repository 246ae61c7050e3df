import type { SetupRoles } from '@hansard/provider';
import { quoteName, tablesSql } from './database/schema.ts';

export interface SetupSqlOptions extends SetupRoles {
  /** Default `hansard`. */
  readonly schema?: string;
}

/**
 * The SQL that creates the tables of a store and grants rights to roles that exist: the writer can never change or delete an event. A user
 * that may create schemas runs it once, with `psql`. Set `createTables: false` for the writer and the reader.
 * @throws TypeError for a name that PostgreSQL does not allow
 */
export function setupSql({ schema = 'hansard', owner, writer, reader }: SetupSqlOptions = {}): string {
  const quoted = quoteName(schema);
  const beginning =
    owner === undefined
      ? 'BEGIN;'
      : `BEGIN;\nCREATE SCHEMA IF NOT EXISTS ${quoted} AUTHORIZATION ${quoteRole(owner)};\nSET LOCAL ROLE ${quoteRole(owner)};`;
  const grants: string[] = [];
  for (const role of [writer, reader])
    if (role !== undefined)
      grants.push(
        `GRANT USAGE ON SCHEMA ${quoted} TO ${quoteRole(role)};`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA ${quoted} TO ${quoteRole(role)};`,
      );
  if (writer !== undefined) {
    const role = quoteRole(writer);
    const on = (...tables: readonly string[]) => tables.map((table) => `${quoted}.${table}`).join(', ');
    grants.push(
      `GRANT INSERT ON ${on('tasks', 'dispatches', 'events', 'openings', 'event_words')} TO ${role};`,
      `GRANT UPDATE ON ${on('tasks', 'dispatches', 'openings')} TO ${role};`,
      `GRANT DELETE ON ${on('openings')} TO ${role};`,
    );
  }
  return `${beginning}${tablesSql(schema)}\n${[...grants, 'COMMIT;'].join('\n')}\n`;
}

function quoteRole(name: string): string {
  if (name === '' || Buffer.byteLength(name) > 63 || name.includes('\0'))
    throw new TypeError(`The name of a role must have 1 to 63 bytes: ${JSON.stringify(name)}`);
  return `"${name.replaceAll('"', '""')}"`;
}
