import { openRedisStore, type RedisStoreOptions } from '../../src/index.ts';

/** For the cases of the kit with other processes. */
export const openStore = (options: RedisStoreOptions) => openRedisStore(options);
