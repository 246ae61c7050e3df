import { openSqliteStore } from '../../src/index.ts';

/** Opens a store in another process, for the conformance kit. */
export const openStore = (path: string, leaseMs: number) => openSqliteStore({ path, leaseMs });
