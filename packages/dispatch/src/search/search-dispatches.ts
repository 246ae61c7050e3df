import type { DispatchEnvelope } from '@hansard/events';
import { EventWords, type SearchHit, type StoreError } from '@hansard/provider';
import type { DispatchStore } from '../store/dispatch-store.ts';

/** Where a search looks: everywhere, in a task, or in one of its dispatches. */
interface SearchScope {
  readonly taskDir?: string;
  readonly dispatchId?: string;
}

/** The hits of one dispatch, in the order of their positions. */
export interface DispatchHits {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** Null if it cannot be read. */
  readonly envelope: DispatchEnvelope | null;
  readonly hits: readonly SearchHit[];
}

/** What a search uses of a store: reading methods. */
export type SearchedStore = Pick<
  DispatchStore,
  'capabilities' | 'searchEvents' | 'dispatches' | 'findDispatch' | 'getDispatchEnvelope'
>;

interface SearchDispatchesOptions extends SearchScope {
  readonly query: string;
  /** The maximum number of hits. */
  readonly limit: number;
  /** Called before each dispatch that is read as a whole. */
  readonly onDispatch: (searched: number) => Promise<void>;
  /** Receives the error of each dispatch that cannot be searched. */
  readonly onUnreadable: (error: StoreError) => void;
}

/**
 * Searches a store. With an index one call answers, and the dispatch with the newest hit comes first. Without one, dispatches are read one
 * after the other, the one that began last first, so the first hits come long before the last byte is read.
 */
export async function* searchDispatches(
  store: SearchedStore,
  options: SearchDispatchesOptions,
): AsyncGenerator<DispatchHits> {
  if (store.capabilities.search === 'index') yield* lookUp(store, options);
  else yield* readAll(store, options);
}

async function* lookUp(
  store: SearchedStore,
  { query, limit, taskDir, dispatchId }: SearchDispatchesOptions,
): AsyncGenerator<DispatchHits> {
  const hits = await store.searchEvents(query, { ...scopeOf({ taskDir, dispatchId }), limit });
  const byDispatch = Map.groupBy(hits.toReversed(), (hit) => `${hit.taskDir}\n${hit.dispatchId}`);
  for (const found of byDispatch.values()) {
    const [newest] = found;
    if (newest === undefined) continue;
    const envelope = await store.getDispatchEnvelope(newest.taskDir, newest.dispatchId);
    yield { taskDir: newest.taskDir, dispatchId: newest.dispatchId, envelope, hits: inOrder(found) };
  }
}

async function* readAll(
  store: SearchedStore,
  options: SearchDispatchesOptions,
): AsyncGenerator<DispatchHits> {
  const { query, limit, taskDir, dispatchId, onDispatch, onUnreadable } = options;
  if (taskDir !== undefined && dispatchId !== undefined) {
    // It is the whole scope, so its error ends the search.
    const hits = await hitsIn(store, { taskDir, dispatchId }, query, limit);
    const envelope = await store.getDispatchEnvelope(taskDir, dispatchId);
    if (hits.length > 0) yield { taskDir, dispatchId, envelope, hits: inOrder(hits) };
    return;
  }
  let left = limit;
  let searched = 0;
  for await (const listing of store.dispatches({ ...scopeOf({ taskDir }), order: 'newest' })) {
    if (left === 0) return;
    if (listing.error !== undefined) onUnreadable(listing.error);
    if (listing.dispatchId === null || listing.envelope === null) continue;
    await onDispatch(searched);
    searched += 1;
    const dispatch = { taskDir: listing.taskDir, dispatchId: listing.dispatchId };
    const found = await searchOne(store, dispatch, query, left, onUnreadable);
    left -= found.length;
    if (found.length > 0) yield { ...dispatch, envelope: listing.envelope, hits: inOrder(found) };
  }
}

async function searchOne(
  store: SearchedStore,
  dispatch: Required<SearchScope>,
  query: string,
  limit: number,
  onUnreadable: SearchDispatchesOptions['onUnreadable'],
): Promise<readonly SearchHit[]> {
  try {
    return await hitsIn(store, dispatch, query, limit);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    onUnreadable(error);
    return [];
  }
}

async function hitsIn(
  store: SearchedStore,
  dispatch: Required<SearchScope>,
  query: string,
  limit: number,
): Promise<readonly SearchHit[]> {
  if (store.capabilities.search !== false) return store.searchEvents(query, { ...dispatch, limit });
  return readForWords(store, dispatch, new EventWords(query), limit);
}

/** For a store without any search. Keeps the last hits. */
async function readForWords(
  store: SearchedStore,
  dispatch: Required<SearchScope>,
  words: EventWords,
  limit: number,
): Promise<readonly SearchHit[]> {
  const found: SearchHit[] = [];
  const log = await store.findDispatch(dispatch);
  if (log === null) return found;
  for await (const { position, event } of log.events()) {
    if (!words.areIn(event)) continue;
    found.push({ ...dispatch, position, event });
    if (found.length > limit) found.shift();
  }
  return found;
}

function isUnreadable(error: unknown): error is StoreError {
  const code = (error as { readonly code?: unknown }).code;
  return code === 'STORE_CORRUPT' || code === 'STORE_UNAVAILABLE';
}

function inOrder(hits: readonly SearchHit[]): readonly SearchHit[] {
  return hits.toSorted((one, other) => one.position - other.position);
}

function scopeOf({
  taskDir,
  dispatchId,
}: { readonly [Key in keyof SearchScope]: SearchScope[Key] | undefined }) {
  return {
    ...(taskDir === undefined ? {} : { taskDir }),
    ...(dispatchId === undefined ? {} : { dispatchId }),
  };
}
