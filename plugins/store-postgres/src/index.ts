import { resolve } from 'node:path';
import { definePlugin, storeErrors } from '@hansard/provider';
import { setupSql } from './database/schema.ts';
import { openPostgresStore, type PostgresStoreOptions } from './open-postgres-store.ts';

export { type SetupSqlOptions, setupSql } from './database/schema.ts';
export { openPostgresStore, type PostgresStoreOptions } from './open-postgres-store.ts';
export type { PostgresStore } from './postgres-store.ts';

interface PostgresStoreConfig extends Omit<PostgresStoreOptions, 'url'> {
  readonly url?: string;
  readonly urlFrom: string;
}

export default definePlugin<'DispatchStoreProvider', PostgresStoreConfig>({
  id: 'store-postgres',
  provides: 'DispatchStoreProvider',
  create: ({ url, urlFrom, tlsCa, ...options }, { baseDir }) =>
    openPostgresStore({
      ...options,
      url: url ?? urlOf(urlFrom),
      ...(tlsCa === undefined ? {} : { tlsCa: resolve(baseDir, tlsCa) }),
    }),
  setup: ({ schema }, roles) => setupSql({ ...roles, ...(schema === undefined ? {} : { schema }) }),
});

function urlOf(variable: string): string {
  const url = process.env[variable];
  if (url !== undefined && url !== '') return url;
  throw storeErrors.error(
    'STORE_UNAVAILABLE',
    `store-postgres has no URL: the environment variable ${variable} is not set. Set it to postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or set \`url\` or \`urlFrom\` in the configuration.`,
    { details: { reason: variable } },
  );
}
