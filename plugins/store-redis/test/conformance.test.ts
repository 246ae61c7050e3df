import { defineStoreConformance } from '@hansard/store-conformance';
import { describeWithRedis, useRedis } from '@hansard/testing/redis-in-tests';
import { it } from 'vitest';
import { openRedisStore } from '../src/index.ts';
import { censusOf, command, renameRow, valuesOf } from './server/keys.ts';

const server = useRedis();
/** Long enough for a process that shares two cores with many others to show in time that it runs. */
const leaseMs = 1_500;
const answerMs = 3_000;
let stores = 0;

defineStoreConformance({
  name: 'store-redis',
  describe: describeWithRedis,
  // They wait for the server, and some for leases, so they run beside each other.
  it: it.concurrent,
  leaseMs,
  capabilities: {
    durability: 'disk',
    writers: 'dispatch',
    search: 'scan',
    watch: true,
    deleteDispatch: true,
    rewrite: true,
    integrity: 'checksum',
  },
  create: async () => {
    stores += 1;
    const options = { url: server().url(), prefix: `test-${stores}`, leaseMs };
    const open = () => openRedisStore(options);
    const through = (port: number) => ({
      ...options,
      url: `redis://127.0.0.1:${port}`,
      connectTimeout: answerMs,
      commandTimeout: answerMs,
    });
    return {
      store: await open(),
      reopen: open,
      elsewhere: { module: new URL('./processes/open-store.ts', import.meta.url), args: [options] },
      network: {
        host: '127.0.0.1',
        port: server().port,
        open: ({ port }) => openRedisStore(through(port)),
        elsewhere: ({ port }) => ({
          module: new URL('./processes/open-store.ts', import.meta.url),
          args: [through(port)],
        }),
        answerMs,
      },
      serverSettings: async () => {
        const names = ['appendonly', 'appendfsync', 'maxmemory-policy'];
        const found = (await command(options.url, 'CONFIG', 'GET', ...names)) as readonly string[];
        return Object.fromEntries(names.map((name) => [name, found[found.indexOf(name) + 1] ?? '']));
      },
      // The whole server is removed after the tests.
      hasServer: true,
      census: () => censusOf(options.url, options.prefix),
      bytes: () => valuesOf(options.url, options.prefix),
      misplace: (from, to) => renameRow(options.url, options.prefix, from, to),
      dispose: () => {},
    };
  },
});
