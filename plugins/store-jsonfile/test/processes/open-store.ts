import { openJsonFileStore } from '../../src/index.ts';

/** Opens a store in another process, for the conformance kit. */
export const openStore = (root: string, leaseMs: number) => openJsonFileStore({ root, leaseMs });
