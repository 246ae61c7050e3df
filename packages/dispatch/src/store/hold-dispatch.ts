import { StoreError } from '@hansard/provider';
import { dispatchKey } from '../dispatch-key.ts';
import type { DispatchStore } from './dispatch-store.ts';

/** The right to drive a dispatch, which one run or session of a process has at a time. Other processes are kept out by the store. */
export interface DispatchHold {
  /** Lets go of what has ended, or of what nothing was done to. */
  release(): void;
  /** Lets go of what runs and can't be ended, for the store failed: as if its process had died. */
  abandon(): void;
}

interface Holds {
  /** Who holds a dispatch, in words. */
  readonly holders: Map<string, string>;
  readonly abandoned: Set<string>;
}

const holdsOfStores = new WeakMap<DispatchStore, Holds>();

/**
 * Holds a dispatch of a store object until it is let go.
 * @throws STORE_LOCKED where somebody in this process holds it
 */
export function holdDispatch(
  store: DispatchStore,
  taskDir: string,
  dispatchId: string,
  holder: string,
): DispatchHold {
  const { holders, abandoned } = holdsOf(store);
  const key = dispatchKey(taskDir, dispatchId);
  const owner = holders.get(key);
  if (owner !== undefined) {
    throw new StoreError(
      'STORE_LOCKED',
      `The dispatch ${dispatchId} of ${taskDir} is held by ${owner} of this process (${process.pid}). Use that one, or end it first.`,
      { details: { taskDir, dispatchId, owner } },
    );
  }
  holders.set(key, holder);
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    holders.delete(key);
    // What has ended is nobody's any more: who sets it running again, also by hand, drives it.
    if (!store.isRunningHere(taskDir, dispatchId)) abandoned.delete(key);
  };
  return {
    release,
    abandon() {
      if (isHeld) abandoned.add(key);
      release();
    },
  };
}

/** Whether somebody in this process drives the dispatch, or records it by hand, and can still end it. */
export function isDrivenHere(store: DispatchStore, taskDir: string, dispatchId: string): boolean {
  const { holders, abandoned } = holdsOf(store);
  const key = dispatchKey(taskDir, dispatchId);
  return holders.has(key) || (store.isRunningHere(taskDir, dispatchId) && !abandoned.has(key));
}

function holdsOf(store: DispatchStore): Holds {
  const holds = holdsOfStores.get(store) ?? { holders: new Map(), abandoned: new Set() };
  holdsOfStores.set(store, holds);
  return holds;
}
