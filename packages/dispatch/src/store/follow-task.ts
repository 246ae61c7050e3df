import { isUnreadable, type StoreError, storeErrors } from '@hansard/provider';
import { nextTurn } from '../async/next-turn.ts';
import { Notifier } from '../async/notifier.ts';
import type { DispatchEntry, ListedDispatch, TaskFollowItem, TaskFollowOptions } from './dispatch-entry.ts';
import type { DispatchRef } from './dispatch-ref.ts';
import { defaultPageSize } from './follow.ts';
import { type Following, following, pollWatchedMs } from './following.ts';
import { ProviderDispatch } from './provider-dispatch.ts';
import { type EntrySource, entriesOf } from './stored-entries.ts';

/**
 * Follows all dispatches of a task, also those that begin later.
 *
 * 1. Signals of writers, a watch of the task and a clock wake the follower. No signal says what is new.
 * 2. Awake, it lists the dispatches, and reads those that can have changed: those that run, that a writer of this process named, or
 *    whose listing changed. All others are read every `pollWatchedMs`: the time of a late event can be that of the event before.
 * 3. Of each it reads from its cursor up to the last position at that time, so that a busy writer keeps no other dispatch waiting.
 *
 * Invariant: the cursor of a dispatch is the position of the last event that was delivered. So none is missed, and none comes twice.
 */
export function followTask(
  source: EntrySource,
  taskDir: string,
  options: TaskFollowOptions,
): AsyncIterable<TaskFollowItem> {
  const { context } = source;
  return following(context, () => {
    const notifier = new TaskNotifier();
    return {
      signal: options.signal,
      notifier,
      listen: () => context.notifiers.add({ taskDir }, notifier),
      watch: (onChange) =>
        context.provider.capabilities.watch ? context.provider.watch?.({ taskDir }, onChange) : undefined,
      items: (life) => new TaskFollower(source, taskDir, options, life, notifier).items(),
    };
  });
}

/** Keeps the dispatches that writers of this process named. */
class TaskNotifier extends Notifier {
  #named = new Set<string>();

  override notify(dispatch?: DispatchRef): void {
    if (dispatch !== undefined) this.#named.add(dispatch.dispatchId);
    super.notify();
  }

  takeNamed(): ReadonlySet<string> {
    const named = this.#named;
    this.#named = new Set();
    return named;
  }
}

/** What the follower knows of a dispatch. */
interface Followed {
  readonly stored: ProviderDispatch;
  /** The position of the last event that was delivered. */
  position: number;
  isAnnounced: boolean;
  /** The status and the last activity when it was last read. Null: it must be read. */
  seen: string | null;
  /** The id of that event; null if this follower has delivered none. */
  lastId: string | null;
  /** The code of the error that was last reported, until it can be read. */
  reported: string | null;
  /** Whether its log is no longer the one that was delivered. Then it is not read again. */
  isLost: boolean;
}

class TaskFollower {
  readonly #source: EntrySource;
  readonly #taskDir: string;
  readonly #options: TaskFollowOptions;
  readonly #life: Following;
  readonly #notifier: TaskNotifier;
  readonly #followed = new Map<string, Followed>();
  /** The code of the error of the last listing. */
  #reported: string | null = null;

  constructor(
    source: EntrySource,
    taskDir: string,
    options: TaskFollowOptions,
    life: Following,
    notifier: TaskNotifier,
  ) {
    this.#source = source;
    this.#taskDir = taskDir;
    this.#options = options;
    this.#life = life;
    this.#notifier = notifier;
  }

  async *items(): AsyncGenerator<TaskFollowItem, undefined> {
    const { clock } = this.#source.context;
    let allReadAt = Number.NEGATIVE_INFINITY;
    for (let isFirst = true; !this.#life.isOver; isFirst = false) {
      const isAll = clock.monotonic() - allReadAt >= pollWatchedMs;
      if (isAll) allReadAt = clock.monotonic();
      // Before the listing: what a writer names from now on is read the next time.
      const named = this.#notifier.takeNamed();
      const entries = await this.#list();
      if (entries === undefined) return;
      this.#forgetAbsent(entries);
      for (const entry of entries) {
        if (this.#life.isOver) return;
        if ('error' in entry) yield* this.#unreadable(entry.dispatchId, entry.error);
        else yield* this.#look(entry, isAll || named.has(entry.dispatchId));
      }
      if (this.#life.isOver) return;
      if (isFirst) yield { kind: 'caught_up' };
      await this.#life.somethingNew();
    }
  }

  /** All dispatches of the task; undefined if the follower ended meanwhile. */
  async #list(): Promise<readonly DispatchEntry[] | undefined> {
    const { provider } = this.#source.context;
    const taskDir = this.#taskDir;
    const entries: DispatchEntry[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const asked = provider.listDispatches(after === undefined ? { taskDir } : { taskDir, after });
      const page = await this.#life.untilEnd(asked);
      if (page === undefined) return undefined;
      entries.push(...entriesOf(this.#source, page).dispatches);
      after = page.next;
    }
    return entries;
  }

  /** A dispatch that was deleted, and comes back, is another one. */
  #forgetAbsent(entries: readonly DispatchEntry[]): void {
    const ids = new Set(entries.map(({ dispatchId }) => dispatchId));
    // The task could not be listed.
    if (ids.has(undefined)) return;
    this.#reported = null;
    for (const id of this.#followed.keys()) if (!ids.has(id)) this.#followed.delete(id);
  }

  /** Reads a dispatch if it can have changed since it was last read. */
  async *#look(entry: ListedDispatch, mustRead: boolean): AsyncGenerator<TaskFollowItem, undefined> {
    const followed = this.#followedOf(entry.dispatchId);
    if (!followed.isAnnounced) {
      followed.isAnnounced = true;
      yield { kind: 'dispatch', dispatch: entry };
    }
    const { status } = entry.envelope;
    const seen = `${status} ${entry.lastActiveAt}`;
    if (followed.isLost || (!mustRead && status !== 'running' && followed.seen === seen)) return;
    try {
      yield* this.#read(followed);
      followed.seen = seen;
      followed.reported = null;
    } catch (error) {
      // It was deleted after the listing.
      if (storeErrors.is(error, 'STORE_DISPATCH_NOT_FOUND')) return;
      if (!isOfOneDispatch(error)) throw error;
      followed.isLost = error.code === 'STORE_INVALID_CURSOR';
      yield* this.#unreadable(entry.dispatchId, error);
    }
  }

  async *#read(followed: Followed): AsyncGenerator<TaskFollowItem, undefined> {
    const { stored } = followed;
    const { taskDir, dispatchId } = stored;
    const end = await this.#life.untilEnd(stored.readPage({ last: 0 }));
    if (end === undefined) return;
    if (end.first <= followed.position || !(await this.#isSameLog(followed))) throw otherLog(followed);
    const limit = this.#options.pageSize ?? defaultPageSize;
    while (followed.position < end.first - 1) {
      const page = await this.#life.untilEnd(stored.readPage({ after: followed.position, limit }));
      if (page === undefined) return;
      for (const [index, event] of page.events.entries()) {
        if (this.#life.isOver) return;
        followed.position = page.first + index;
        followed.lastId = event.id;
        yield { kind: 'event', taskDir, dispatchId, position: followed.position, event };
      }
      // A synchronous store would keep timers and signals waiting until the end.
      await nextTurn();
    }
  }

  /** After an error, such as damage whose loss was accepted, the last event that was delivered must still be at its position. */
  async #isSameLog({ stored, position, lastId, reported }: Followed): Promise<boolean> {
    if (reported === null || lastId === null) return true;
    const page = await this.#life.untilEnd(stored.readPage({ after: position - 1, limit: 1 }));
    return page === undefined || page.events[0]?.id === lastId;
  }

  #followedOf(dispatchId: string): Followed {
    const known = this.#followed.get(dispatchId);
    if (known !== undefined) return known;
    const { context, onRead } = this.#source;
    const ref = { taskDir: this.#taskDir, dispatchId };
    onRead?.(ref);
    const followed: Followed = {
      stored: new ProviderDispatch(context.provider, ref),
      position: this.#options.after?.[dispatchId] ?? -1,
      isAnnounced: false,
      seen: null,
      lastId: null,
      reported: null,
      isLost: false,
    };
    this.#followed.set(dispatchId, followed);
    return followed;
  }

  /** Reports an error once, until the dispatch or the list of the task can be read again. */
  *#unreadable(dispatchId: string | undefined, error: StoreError): Generator<TaskFollowItem, undefined> {
    const taskDir = this.#taskDir;
    const { code } = error;
    if (dispatchId === undefined) {
      if (this.#reported !== code) yield { kind: 'unreadable', taskDir, error };
      this.#reported = code;
      return;
    }
    const followed = this.#followedOf(dispatchId);
    if (followed.reported !== code) yield { kind: 'unreadable', taskDir, dispatchId, error };
    followed.reported = code;
  }
}

/** Whether an error concerns one dispatch. The others are followed. */
function isOfOneDispatch(error: unknown): error is StoreError {
  const others = ['STORE_INVALID_PATH', 'STORE_INVALID_CURSOR'] as const;
  return isUnreadable(error) || others.some((code) => storeErrors.is(error, code));
}

function otherLog({ stored: { taskDir, dispatchId }, position }: Followed): StoreError {
  return storeErrors.error(
    'STORE_INVALID_CURSOR',
    `The dispatch ${dispatchId} of ${taskDir} is followed up to position ${position}, and its log no longer has that event. Follow it again from the beginning.`,
    { details: { taskDir, dispatchId, after: position } },
  );
}
