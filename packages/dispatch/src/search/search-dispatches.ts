import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import { EventWords, isInternalTask, isUnreadable, type SearchHit, type StoreError } from '@hansard/provider';
import type { DispatchRef } from '../store/dispatch-ref.ts';
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
  'capabilities' | 'searchEvents' | 'dispatches' | 'findDispatch'
>;

interface SearchDispatchesOptions extends SearchScope {
  readonly query: string;
  /** The maximum number of hits. */
  readonly limit: number;
  /** Whether a hit is wanted. The others do not count for the limit. Absent: all are. */
  readonly isWanted?: ((event: CapturedEvent) => boolean) | undefined;
  /** Receives how many hits were not wanted, of those that were looked at. */
  readonly onUnwanted?: (count: number) => void;
  /** Receives how many events were added to an index so far. */
  readonly onIndexed?: (events: number) => void;
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

async function* lookUp(store: SearchedStore, options: SearchDispatchesOptions): AsyncGenerator<DispatchHits> {
  const { query, limit, taskDir, dispatchId, onIndexed } = options;
  const scope = scopeOf({ taskDir, dispatchId });
  const look = async (most: number) =>
    store.searchEvents(query, { ...scope, limit: most, ...(onIndexed === undefined ? {} : { onIndexed }) });
  // As a listing of the whole store, a search of it omits the records of Hansard, such as the marks of people.
  const isShown = taskDir === undefined ? (hit: SearchHit) => !isInternalTask(hit.taskDir) : undefined;
  const hits = await wantedOf(look, limit, options, isShown);
  const byDispatch = Map.groupBy(hits.toReversed(), (hit) => `${hit.taskDir}\n${hit.dispatchId}`);
  for (const found of byDispatch.values()) {
    const [newest] = found;
    if (newest === undefined) continue;
    let envelope: DispatchEnvelope | null;
    try {
      envelope = await envelopeOf(store, newest);
    } catch (error) {
      // A search in one dispatch ends with the error of that dispatch.
      if (dispatchId !== undefined || !isUnreadable(error)) throw error;
      options.onUnreadable(error);
      continue;
    }
    yield { taskDir: newest.taskDir, dispatchId: newest.dispatchId, envelope, hits: inOrder(found) };
  }
}

async function* readAll(
  store: SearchedStore,
  options: SearchDispatchesOptions,
): AsyncGenerator<DispatchHits> {
  const { limit, taskDir, dispatchId, onDispatch, onUnreadable } = options;
  if (taskDir !== undefined && dispatchId !== undefined) {
    // It is the whole scope, so its error ends the search.
    const hits = await hitsIn(store, { taskDir, dispatchId }, limit, options);
    const envelope = await envelopeOf(store, { taskDir, dispatchId });
    if (hits.length > 0) yield { taskDir, dispatchId, envelope, hits: inOrder(hits) };
    return;
  }
  let left = limit;
  let searched = 0;
  for await (const listing of store.dispatches({ ...scopeOf({ taskDir }), order: 'newest' })) {
    if (left === 0) return;
    if ('error' in listing) {
      onUnreadable(listing.error);
      continue;
    }
    await onDispatch(searched);
    searched += 1;
    const dispatch = { taskDir: listing.taskDir, dispatchId: listing.dispatchId };
    const found = await searchOne(store, dispatch, left, options);
    left -= found.length;
    if (found.length > 0) yield { ...dispatch, envelope: listing.envelope, hits: inOrder(found) };
  }
}

async function envelopeOf(store: SearchedStore, dispatch: DispatchRef): Promise<DispatchEnvelope | null> {
  return (await store.findDispatch(dispatch))?.envelope ?? null;
}

async function searchOne(
  store: SearchedStore,
  dispatch: Required<SearchScope>,
  limit: number,
  options: SearchDispatchesOptions,
): Promise<readonly SearchHit[]> {
  try {
    return await hitsIn(store, dispatch, limit, options);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    options.onUnreadable(error);
    return [];
  }
}

async function hitsIn(
  store: SearchedStore,
  dispatch: Required<SearchScope>,
  limit: number,
  options: SearchDispatchesOptions,
): Promise<readonly SearchHit[]> {
  const { query } = options;
  const look =
    store.capabilities.search !== false
      ? (most: number) => store.searchEvents(query, { ...dispatch, limit: most })
      : (most: number) => readForWords(store, dispatch, new EventWords(query), most);
  return wantedOf(look, limit, options);
}

/** How many hits are looked at for those that are wanted. */
const mostLookedAt = 10_000;

/** The newest hits that are wanted. Looks at more hits while too few of them are. */
async function wantedOf(
  look: (limit: number) => Promise<readonly SearchHit[]>,
  limit: number,
  { isWanted = () => true, onUnwanted }: Pick<SearchDispatchesOptions, 'isWanted' | 'onUnwanted'>,
  isShown: (hit: SearchHit) => boolean = () => true,
): Promise<readonly SearchHit[]> {
  for (let most = limit; ; most = Math.min(4 * most, Math.max(limit, mostLookedAt))) {
    const hits = await look(most);
    const shown = hits.filter(isShown);
    const wanted = shown.filter(({ event }) => isWanted(event));
    const isAll = hits.length < most || most >= mostLookedAt;
    if (wanted.length < limit && !isAll) continue;
    onUnwanted?.(shown.length - wanted.length);
    return wanted.slice(-limit);
  }
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
