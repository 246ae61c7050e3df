import { defineStoreConformance } from '@hansard/store-conformance';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openPostgresStore } from '../src/index.ts';
import { newSchema } from './server/new-schema.ts';
import {
  knowsPreparedStatements,
  type Pgbouncer,
  pgbouncerVersion,
  startPgbouncer,
} from './server/pgbouncer.ts';

const version = pgbouncerVersion();
const leaseMs = 600;

if (version === null)
  it.skip('the kit through pgbouncer: SKIPPED, because this machine has no `pgbouncer` on its PATH', () => {});
else {
  const server = useServer();
  let pooler: Pgbouncer | undefined;
  beforeAll(async () => {
    pooler = await startPgbouncer(server().port);
  });
  afterAll(() => pooler?.stop());
  defineStoreConformance({
    name: `store-postgres through pgbouncer ${version}`,
    describe,
    it,
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
      const url = pooler?.url ?? '';
      const prepare = knowsPreparedStatements(version);
      const options = { url, schema: newSchema(), leaseMs, connections: 4, prepare, pollInterval: 50 };
      const open = () => openPostgresStore(options);
      return {
        store: await open(),
        reopen: open,
        elsewhere: { module: new URL('./processes/open-store.ts', import.meta.url), args: [options] },
        hasServer: true,
        dispose: () => {},
      };
    },
  });
}
