import { defineStoreConformance } from '@hansard/store-conformance';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { describe, it } from 'vitest';
import { openPostgresStore } from '../src/index.ts';
import { newSchema } from './server/new-schema.ts';

const server = useServer();
/** Long enough for a process that shares two cores with many others to show in time that it runs. */
const leaseMs = 1_500;

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
    return {
      store: await open(),
      reopen: open,
      elsewhere: { module: new URL('./processes/open-store.ts', import.meta.url), args: [options] },
      // The whole server is removed after the tests.
      hasServer: true,
      dispose: () => {},
    };
  },
});
