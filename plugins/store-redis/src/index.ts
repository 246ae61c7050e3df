import { resolve } from 'node:path';
import { definePlugin, storeErrors } from '@hansard/provider';
import { openRedisStore, type RedisStoreOptions } from './open-redis-store.ts';

export { openRedisStore, type RedisStoreOptions } from './open-redis-store.ts';
export type { RedisStore } from './redis-store.ts';

interface RedisStoreConfig extends Omit<RedisStoreOptions, 'url'> {
  readonly url?: string;
  readonly urlFrom: string;
}

export default definePlugin<'DispatchStoreProvider', RedisStoreConfig>({
  id: 'store-redis',
  provides: 'DispatchStoreProvider',
  create: ({ url, urlFrom, tlsCa, ...options }, { baseDir }) =>
    openRedisStore({
      ...options,
      url: url ?? urlOf(urlFrom),
      ...(tlsCa === undefined ? {} : { tlsCa: resolve(baseDir, tlsCa) }),
    }),
});

function urlOf(variable: string): string {
  const url = process.env[variable];
  if (url !== undefined && url !== '') return url;
  throw storeErrors.error(
    'STORE_UNAVAILABLE',
    `store-redis has no URL: the environment variable ${variable} is not set. Set it to redis://USER:PASSWORD@HOST:PORT/DATABASE, or set \`url\` or \`urlFrom\` in the configuration.`,
    { details: { reason: variable } },
  );
}
