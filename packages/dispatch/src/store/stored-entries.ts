import type { DispatchEnvelope } from '@hansard/events';
import { type DispatchListing, type DispatchPage, type StoreError, storeErrors } from '@hansard/provider';
import type { DispatchEntries, DispatchEntry, ListedDispatch } from './dispatch-entry.ts';
import type { DispatchLog } from './dispatch-log.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import { ProviderDispatch } from './provider-dispatch.ts';
import type { StoreContext } from './store-context.ts';
import { StoredDispatch } from './stored-dispatch.ts';

/** What the entries of a listing need of their store. */
export interface EntrySource {
  readonly context: StoreContext;
  /** Receives each dispatch whose log is used. */
  readonly onRead: ((dispatch: DispatchRef) => void) | undefined;
}

/** The entries of a page of the provider. */
export function entriesOf(source: EntrySource, { dispatches, next }: DispatchPage): DispatchEntries {
  const entries: DispatchEntry[] = [];
  for (const listing of dispatches) {
    const { taskDir, dispatchId, envelope, lastActiveAt, error } = listing;
    if (envelope !== null) entries.push(new StoredEntry(source, taskDir, envelope, lastActiveAt));
    else
      entries.push({
        taskDir,
        ...(dispatchId !== null && { dispatchId }),
        error: error ?? withoutReason(listing),
      });
  }
  return { dispatches: entries, next };
}

function withoutReason({ taskDir, dispatchId }: DispatchListing): StoreError {
  return storeErrors.error(
    'STORE_CORRUPT',
    `The store listed the dispatch ${dispatchId} of ${taskDir} without an envelope and without an error; report this to the author of the store.`,
    { details: { taskDir, dispatchId } },
  );
}

class StoredEntry implements ListedDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  readonly envelope: DispatchEnvelope;
  readonly lastActiveAt: string | null;
  readonly #source: EntrySource;
  #log: DispatchLog | null;

  constructor(source: EntrySource, taskDir: string, envelope: DispatchEnvelope, lastActiveAt: string | null) {
    this.taskDir = taskDir;
    this.dispatchId = envelope.dispatchId;
    this.envelope = envelope;
    this.lastActiveAt = lastActiveAt;
    this.#source = source;
    this.#log = null;
  }

  get log(): DispatchLog {
    if (this.#log === null) {
      const { context, onRead } = this.#source;
      onRead?.(this);
      this.#log = new StoredDispatch(context, new ProviderDispatch(context.provider, this), this.envelope);
    }
    return this.#log;
  }
}
