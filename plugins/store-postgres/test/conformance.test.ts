import { defineStoreConformance } from '@hansard/store-conformance';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { Client } from 'pg';
import { describe, it } from 'vitest';
import { openPostgresStore } from '../src/index.ts';
import { censusOf, rowsOf } from './census.ts';
import { newSchema } from './server/new-schema.ts';

const server = useServer();
/** Long enough for a process that shares two cores with many others to show in time that it runs. */
const leaseMs = 1_500;
const answerMs = 3_000;

defineStoreConformance({
  name: 'store-postgres',
  describe,
  // They wait for the server, and some for leases, so they run beside each other.
  it: it.concurrent,
  leaseMs,
  capabilities: {
    durability: 'disk',
    writers: 'dispatch',
    search: 'index',
    watch: true,
    deleteDispatch: true,
    rewrite: true,
    integrity: 'checksum',
  },
  create: async () => {
    const options = { url: server().url(), schema: newSchema(), leaseMs, connections: 4 };
    const open = () => openPostgresStore(options);
    const through = (port: number) => ({
      ...options,
      url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
      connectTimeout: answerMs,
      statementTimeout: answerMs,
    });
    return {
      store: await open(),
      reopen: open,
      elsewhere: { module: new URL('./processes/open-store.ts', import.meta.url), args: [options] },
      network: {
        host: '127.0.0.1',
        port: server().port,
        open: ({ port }) => openPostgresStore(through(port)),
        elsewhere: ({ port }) => ({
          module: new URL('./processes/open-store.ts', import.meta.url),
          args: [{ ...through(port) }],
        }),
        answerMs,
      },
      serverSettings: async () => {
        const client = new Client({ connectionString: server().url() });
        await client.connect();
        const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method'];
        const { rows } = await client.query('SELECT name, setting FROM pg_settings WHERE name = ANY($1)', [
          names,
        ]);
        await client.end();
        return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
      },
      // The whole server is removed after the tests.
      hasServer: true,
      census: () => censusOf(options.url, options.schema),
      bytes: () => rowsOf(options.url, options.schema),
      misplace: async (from, to) => {
        const client = new Client({ connectionString: server().url() });
        await client.connect();
        const { rows } = await client.query(
          `SELECT number FROM ${options.schema}.dispatches WHERE task_dir = $1 AND dispatch_id = $2`,
          [from.taskDir, from.dispatchId],
        );
        await client.query(
          `DELETE FROM ${options.schema}.dispatches WHERE task_dir = $1 AND dispatch_id = $2`,
          [to.taskDir, to.dispatchId],
        );
        await client.query(
          `UPDATE ${options.schema}.dispatches SET task_dir = $1, dispatch_id = $2 WHERE number = $3`,
          [to.taskDir, to.dispatchId, rows[0]?.number],
        );
        await client.end();
      },
      dispose: () => {},
    };
  },
});
