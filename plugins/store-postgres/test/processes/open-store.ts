import { openPostgresStore, type PostgresStoreOptions } from '../../src/index.ts';

/** For the cases of the kit with other processes. */
export const openStore = (options: PostgresStoreOptions) => openPostgresStore(options);
