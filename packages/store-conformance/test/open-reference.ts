import type { StoreFixture, StoreUnderTest } from '../src/index.ts';
import { type Change, logIn, withPositions } from './mutants/mutant.ts';
import { encodeLog } from './reference/damaged-log.ts';
import { createReferenceStore, referenceCapabilities } from './reference/reference-store.ts';
import { emptyWorld, inMemory, keyOf } from './reference/world.ts';

/** The reference store, or another one of its data: every capability, in memory, and any number of openings. */
export function openReference(change: Change = () => ({})): StoreFixture {
  const world = emptyWorld();
  const medium = inMemory(world);
  const open = () => {
    const good = createReferenceStore(medium);
    return withPositions(good, change(good, world), logIn(world));
  };
  return {
    store: open(),
    reopen: open,
    damage: (taskDir, dispatchId) => {
      const dispatch = world.data.dispatches.get(taskDir)?.get(dispatchId);
      if (dispatch === undefined) throw new TypeError(`There is no dispatch ${dispatchId}.`);
      const events = [...dispatch.events];
      return {
        bytes: encodeLog(dispatch.envelope, events),
        write: (bytes) => {
          dispatch.events = [...events];
          world.claims.clear();
          world.damaged.set(keyOf(taskDir, dispatchId), bytes);
        },
      };
    },
    bytes: () => {
      const tasks = [...world.data.dispatches].map(([task, dispatches]) => [task, [...dispatches]]);
      return Buffer.from(JSON.stringify([tasks, [...world.data.tasks]]));
    },
    dispose: () => {},
  };
}

/** The reference store with this change, for the kit. */
export function storeWith(change: Change): StoreUnderTest {
  return { capabilities: referenceCapabilities, create: () => openReference(change), seed: 7 };
}
