import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DispatchStoreProvider, storeErrors } from '@hansard/provider';
import type { StoreUnderTest } from '../../src/index.ts';
import { withPositions } from '../mutants/mutant.ts';
import { processMutants } from '../mutants/processes.ts';
import { createReferenceStore, type ReferenceStore, referenceCapabilities } from './reference-store.ts';
import { inDatabase } from './sqlite-medium.ts';

/** Long enough for a process that shares two cores with many others to show in time that it runs. */
export const leaseMs = 2_000;

/** The reference store in a file that several processes share, with one of the faults of `processMutants` or none. */
export function openStore(file: string, fault: string | null): DispatchStoreProvider {
  const medium = inDatabase(file);
  const good = withPolling(createReferenceStore(medium, leaseMs));
  const change = processMutants.find(([name]) => name === fault)?.[2];
  const store = withPositions(good, change?.(good, medium) ?? {}, (taskDir, dispatchId) =>
    medium.use(({ data }) => data.dispatches.get(taskDir)?.get(dispatchId)?.events ?? []),
  );
  return {
    ...withFullDisk(store),
    close: () => {
      try {
        store.close();
        medium.close();
      } catch (error) {
        if (!String(error).includes('database is not open')) throw error;
      }
    },
  };
}

/** A listener is also called from time to time, because another process may have changed something. */
function withPolling(store: ReferenceStore): ReferenceStore {
  const timers = new Set<NodeJS.Timeout>();
  return {
    ...store,
    watch: (scope, onChange) => {
      const stop = store.watch(scope, onChange);
      const timer = setInterval(onChange, 50);
      timers.add(timer);
      return () => {
        clearInterval(timer);
        stop();
      };
    },
    close: () => {
      for (const timer of timers) clearInterval(timer);
      store.close();
    },
  };
}

/** The appends of a store, with the error of a full disk as the contract names it. */
function withFullDisk(store: DispatchStoreProvider): DispatchStoreProvider {
  const guarded =
    <Args extends readonly unknown[], Answer>(call: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      try {
        return call(...args);
      } catch (cause) {
        if (!/disk|full|I\/O/.test(String(cause))) throw cause;
        throw storeErrors.error('STORE_UNAVAILABLE', 'The disk is full.', { cause });
      }
    };
  return { ...store, appendEvent: guarded(store.appendEvent), appendEvents: guarded(store.appendEvents) };
}

export function sharedStoreUnderTest(fault: string | null = null): StoreUnderTest {
  return {
    capabilities: referenceCapabilities,
    leaseMs,
    seed: 7,
    create: () => {
      const folder = mkdtempSync(join(tmpdir(), 'hansard-reference-'));
      const file = join(folder, 'world.sqlite');
      const open = () => openStore(file, fault);
      return {
        store: open(),
        reopen: open,
        elsewhere: { module: import.meta.filename, args: [file, fault] },
        dispose: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  };
}
