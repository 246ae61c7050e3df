import { hash } from 'node:crypto';
import { type Dispatch, type DispatchRef, type DispatchStore, watchTask } from '@hansard/dispatch';
import { isPlainObject, type JsonValue, toTimestamp } from '@hansard/events';
import { type ClaimState, storeErrors } from '@hansard/provider';

const roles = { watcher: 'watcher', exclusion: 'exclusion' } as const;

/** A file or a folder that the watcher could not read or import, in words. */
interface WatchProblem {
  readonly path: string;
  readonly message: string;
}

/** What a watcher knows, as it keeps it in its dispatch. Times are UTC. */
export interface WatchState {
  readonly machine: string;
  readonly home: string;
  /** When the watcher of the newest process began. */
  readonly startedAt: string;
  /** How it hears of changes; `once`: it ran once. */
  readonly mode: 'events' | 'polling' | 'once';
  /** Why it polls. Null: it need not. */
  readonly pollsBecause: string | null;
  /** When this was kept. An idle watcher keeps nothing. */
  readonly keptAt: string;
  /** Null: it has imported nothing yet. */
  readonly lastImportAt: string | null;
  readonly files: number;
  readonly folders: readonly string[];
  /** At most 20. */
  readonly problems: readonly WatchProblem[];
  /** Why the last look could not be finished, such as a full disk. Null: it was. */
  readonly failure: string | null;
  /** Names all files as they were, with what is left out. */
  readonly digest: string;
  /** When the next session is quiet, in milliseconds since 1970. Null: none is open. */
  readonly quietAt: number | null;
  /** A number for each log that is imported as it is. */
  readonly known: readonly number[];
}

/** A word that names what no watcher of the store imports. */
export interface WatchExclusion {
  /** The id of a product, the name of a project, or a path. */
  readonly word: string;
  readonly since: string | null;
}

/** A watcher of a store, as others see it. */
export interface KnownWatcher {
  /** Null: it was killed before it had looked at anything. */
  readonly state: WatchState | null;
  /** Null: none has run. */
  readonly claim: ClaimState | null;
}

export const numberOf = (text: string): number =>
  Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);

/** The claim of the watcher of a machine and a home folder, with its state. */
export class WatchRecord {
  readonly #store: DispatchStore;
  readonly #ref: DispatchRef;
  #dispatch: Dispatch;

  /** @throws STORE_LOCKED if another process watches */
  static async claim(store: DispatchStore, machine: string, home: string): Promise<WatchRecord> {
    const dispatchId = `watch-${hash('sha256', `${machine}\n${home}`, 'hex').slice(0, 16)}`;
    const ref = { taskDir: watchTask, dispatchId };
    return new WatchRecord(store, ref, await claim(store, ref));
  }

  private constructor(store: DispatchStore, ref: DispatchRef, dispatch: Dispatch) {
    this.#store = store;
    this.#ref = ref;
    this.#dispatch = dispatch;
  }

  get state(): WatchState | null {
    return stateOf(this.#dispatch.envelope.structuredResult);
  }

  /**
   * @throws STORE_DISPATCH_NOT_FOUND if the store has no record of this watcher any more: what the watcher has imported is then gone, too
   */
  async assertThere(): Promise<void> {
    if ((await this.#store.findDispatch(this.#ref)) !== null) return;
    throw storeErrors.error(
      'STORE_DISPATCH_NOT_FOUND',
      'The store was deleted or replaced while it was watched for. Start the watcher again, and it imports all sessions into the store that is there now.',
      { details: { ...this.#ref } },
    );
  }

  /** Claims the dispatch again where a claim was lost, such as one that expired while the store was away. @throws STORE_LOCKED, STORE_DISPATCH_NOT_FOUND */
  async keep(state: WatchState): Promise<void> {
    const updates = { structuredResult: { ...state } as unknown as JsonValue };
    try {
      await this.#dispatch.update(updates);
    } catch (error) {
      if (!storeErrors.is(error, 'STORE_LOCKED')) throw error;
      await this.assertThere();
      this.#dispatch.abandon();
      this.#dispatch = await claim(this.#store, this.#ref);
      await this.#dispatch.update(updates);
    }
  }

  release(): Promise<void> {
    return this.#dispatch.release();
  }
}

const owner = 'a watcher';

async function claim(store: DispatchStore, ref: DispatchRef): Promise<Dispatch> {
  const { taskDir, dispatchId } = ref;
  if ((await store.findDispatch(ref)) === null) {
    try {
      return await store.beginDispatch(taskDir, { dispatchId, role: roles.watcher }, { owner });
    } catch (error) {
      // Another one began it meanwhile, and claims it.
      if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
    }
  }
  return store.openDispatch(ref, { write: true, owner });
}

function stateOf(value: JsonValue): WatchState | null {
  return isPlainObject(value) && Array.isArray(value.known) ? (value as unknown as WatchState) : null;
}

/** The watchers of a store, and what they leave out. */
export async function readWatchers(
  store: DispatchStore,
): Promise<{ readonly watchers: KnownWatcher[]; readonly exclusions: WatchExclusion[] }> {
  const watchers: KnownWatcher[] = [];
  const exclusions: WatchExclusion[] = [];
  for await (const entry of store.dispatches({ taskDir: watchTask })) {
    if ('error' in entry) continue;
    const { role, title, startedAt, structuredResult } = entry.envelope;
    if (role === roles.exclusion && title !== null) exclusions.push({ word: title, since: startedAt });
    if (role !== roles.watcher) continue;
    watchers.push({ state: stateOf(structuredResult), claim: await store.findClaim(entry) });
  }
  return { watchers, exclusions };
}

/** The words of what no watcher imports, sorted. */
export async function excludedWords(store: DispatchStore): Promise<string[]> {
  const words: string[] = [];
  for await (const entry of store.dispatches({ taskDir: watchTask })) {
    if ('error' in entry || entry.envelope.role !== roles.exclusion) continue;
    words.push(entry.envelope.title ?? '');
  }
  return words.sort();
}

const exclusionOf = (word: string): DispatchRef => ({
  taskDir: watchTask,
  dispatchId: `exclude-${hash('sha256', word, 'hex').slice(0, 16)}`,
});

/** Leaves out what a word names, for all watchers of a store, also for one that runs. What is imported stays. */
export async function excludeFromWatch(store: DispatchStore, word: string): Promise<void> {
  const { taskDir, dispatchId } = exclusionOf(word);
  try {
    const begun = { dispatchId, role: roles.exclusion, startedAt: toTimestamp(Date.now()) };
    await using dispatch = await store.beginDispatch(taskDir, begun, { owner });
    await dispatch.end({ status: 'completed', title: word });
  } catch (error) {
    if (!storeErrors.is(error, 'STORE_DISPATCH_EXISTS')) throw error;
  }
}

/** Lets watchers import again what a word names. False: it was not left out. */
export async function includeInWatch(store: DispatchStore, word: string): Promise<boolean> {
  const ref = exclusionOf(word);
  if ((await store.findDispatch(ref)) === null) return false;
  await store.deleteDispatch(ref);
  return true;
}
