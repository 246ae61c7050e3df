import type { StoreFixture } from '../src/index.ts';
import { createReferenceStore } from './reference/reference-store.ts';
import { emptyWorld, inMemory } from './reference/world.ts';

/** The reference store: every capability, in memory, and any number of openings. */
export function openReference(): StoreFixture {
  const medium = inMemory(emptyWorld());
  const open = () => createReferenceStore(medium);
  return { store: open(), reopen: open, dispose: () => {} };
}
