import type { TestServer } from '@hansard/testing/postgres';
import { Client, type QueryResult } from 'pg';
import { onTestFinished } from 'vitest';
import { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from '../../src/index.ts';
import { newSchema } from './new-schema.ts';

/** Opens stores of one schema, which are closed when the test ends. */
export interface Stores {
  readonly schema: string;
  open(options?: Partial<PostgresStoreOptions>): Promise<PostgresStore>;
  /** Runs a statement as the superuser. `S.` stands for the schema. */
  sql(text: string, values?: readonly unknown[]): Promise<QueryResult>;
}

export function newStores(server: TestServer): Stores {
  const schema = newSchema();
  return {
    schema,
    async open(options = {}) {
      const store = await openPostgresStore({ url: server.url(), schema, connections: 4, ...options });
      onTestFinished(() => store.close());
      return store;
    },
    sql: (text, values) => superuser(server, text.replaceAll('S.', `"${schema}".`), values),
  };
}

/** Runs one statement as the superuser. */
export async function superuser(
  server: TestServer,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult> {
  const client = new Client(server.url());
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query(text, [...values]);
  } finally {
    await client.end();
  }
}

/** The code of the error with which a call fails, or `none`. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? `no code: ${String(error)}`;
  }
}
