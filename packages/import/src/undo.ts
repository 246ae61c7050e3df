import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import { type DispatchSource, toTimestamp } from '@hansard/events';
import { type StoreError, storeErrors } from '@hansard/provider';
import { importErrors } from './import-errors.ts';

/** One run of an import: the sessions that it created and that are still there. */
export interface ImportRunRecord {
  readonly run: string;
  /** When it began. */
  readonly startedAt: string;
  readonly sessions: readonly (DispatchRef & { readonly source: DispatchSource })[];
}

/** A session of an undone run. */
export interface UndoneSession {
  readonly ref: DispatchRef;
  /** Why it stays; null: it was deleted. */
  readonly kept: 'continued' | StoreError | null;
}

/** The runs of imports whose sessions the store has, the newest first. A session whose envelope is damaged is in none. */
async function importRuns(store: DispatchStore): Promise<ImportRunRecord[]> {
  const runs = new Map<string, (DispatchRef & { readonly source: DispatchSource })[]>();
  for await (const listed of store.dispatches()) {
    if ('error' in listed) continue;
    const { taskDir, dispatchId, envelope } = listed;
    const { source } = envelope;
    if (source?.run === undefined) continue;
    const session = { taskDir, dispatchId, source };
    runs.set(source.run, [...(runs.get(source.run) ?? []), session]);
  }
  // Ids of runs grow with time.
  const records = [...runs].map(([run, sessions]) => ({ run, startedAt: timeOf(run), sessions }));
  return records.sort((a, b) => (a.run < b.run ? 1 : -1));
}

/** The time in a ULID. */
function timeOf(run: string): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return toTimestamp([...run.slice(0, 10)].reduce((time, digit) => time * 32 + digits.indexOf(digit), 0));
}

/** The run with an id, or the newest. @throws IMPORT_RUN_UNKNOWN */
export async function findImportRun(store: DispatchStore, run?: string): Promise<ImportRunRecord> {
  const runs = await importRuns(store);
  const found = run === undefined ? runs[0] : runs.find((one) => one.run === run);
  if (found !== undefined) return found;
  throw importErrors.error(
    'IMPORT_RUN_UNKNOWN',
    run === undefined
      ? 'The store has no session that an import created.'
      : `The store has no session that the import ${run} created.`,
    { details: { run: run ?? null } },
  );
}

/**
 * Deletes the sessions that a run of an import created. A later import may bring them back. A session with events that no import wrote stays, and
 * so does one that another program writes.
 */
export async function* undoImport(
  store: DispatchStore,
  { sessions }: ImportRunRecord,
): AsyncGenerator<UndoneSession, undefined> {
  for (const { taskDir, dispatchId, source } of sessions) {
    const ref = { taskDir, dispatchId };
    try {
      if (await isContinued(store, ref, source)) yield { ref, kept: 'continued' };
      else {
        await store.deleteDispatch(ref, { exclude: false });
        yield { ref, kept: null };
      }
    } catch (error) {
      if (!storeErrors.is(error)) throw error;
      if (error.code === 'STORE_UNSUPPORTED' || error.code === 'STORE_CLOSED') throw error;
      yield { ref, kept: error };
    }
  }
}

async function isContinued(
  store: DispatchStore,
  ref: DispatchRef,
  { events }: DispatchSource,
): Promise<boolean> {
  if (events === undefined) return false;
  const dispatch = await store.openDispatch(ref);
  return (await dispatch.count()) > events;
}
