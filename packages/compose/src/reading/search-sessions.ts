import {
  CopiesAmong,
  type DispatchEntry,
  type DispatchHits,
  type DispatchStore,
  searchDispatches,
} from '@hansard/dispatch';
import type { CapturedEvent } from '@hansard/events';
import { EventWords, type SearchHit, type StoreError, unsearchableKeys } from '@hansard/provider';
import { AgentNames, isNoise } from '@hansard/views';
import type { Scope } from '../sessions/resolve-session.ts';
import { partOfStore } from '../sessions/resolve-session.ts';
import type { EventRequest } from './event-request.ts';
import { pagedLog } from './paged-log.ts';

/** The number of hits that are filtered. */
const mostFiltered = 10_000;
/** How many events of a session are read for the names of agents. */
const eventsWithNames = 500;

export interface SessionSearch {
  /** An event is found if its texts contain every word of it. */
  readonly text: string;
  /** Where to search; null: everywhere. */
  readonly scope: Scope | null;
  readonly request: EventRequest;
  /** The most hits. */
  readonly limit: number;
  /** Whether hits in records of the harness and names of models count, too. A filter finds them as well. */
  readonly withRecords: boolean;
  readonly signal: AbortSignal;
  /** Receives how many sessions were searched. */
  readonly onSession: (searched: number) => Promise<void>;
  /** Receives how many events were added to the index of the store before the search. */
  readonly onIndexed: (events: number) => void;
}

/** The hits of one session, and the names of the agents that they are of. */
export interface SessionHits extends DispatchHits {
  readonly names: AgentNames;
}

/** A search, which counts what it finds while its hits are read. */
export class SessionsFound {
  readonly #store: DispatchStore;
  readonly #search: SessionSearch;
  #copies: CopiesAmong | null = null;
  /** How many hits are copies of others. */
  #copied = 0;
  /** How many hits were read. */
  count = 0;
  /** How many more hits are in records of the harness and names of models. */
  inRecords = 0;
  /** The errors of sessions that could not be searched. */
  readonly errors: StoreError[] = [];

  constructor(store: DispatchStore, search: SessionSearch) {
    this.#store = store;
    this.#search = search;
  }

  /** The hits, session by session, up to the limit. What a session has copied from another searched one is found there. Read it once. */
  async *hits(): AsyncGenerator<SessionHits> {
    const { limit, request } = this.#search;
    const given = new Set<string>();
    for (const most of request.isOpen ? [limit, mostFiltered] : [mostFiltered]) {
      this.errors.length = 0;
      this.inRecords = 0;
      this.#copied = 0;
      for await (const one of this.#find(most)) {
        const hits = one.hits.filter(({ position }) => !given.has(`${one.dispatchId} ${position}`));
        for (const { position } of hits) given.add(`${one.dispatchId} ${position}`);
        this.count += hits.length;
        if (hits.length > 0) yield { ...one, hits, names: await this.#namesIn(one) };
      }
      // The copies took the place of other hits.
      if (this.#copied === 0 || this.count === limit) return;
    }
  }

  async *#find(most: number): AsyncGenerator<DispatchHits> {
    const { text, scope, request, limit, withRecords, onSession, onIndexed } = this.#search;
    const isWanted = withRecords || !request.isOpen ? undefined : hitsInTalk(new EventWords(text));
    const found = searchDispatches(this.#store, {
      query: text,
      limit: most,
      isWanted,
      ...partOfStore(scope),
      onDispatch: onSession,
      onIndexed,
      onUnreadable: (error) => void this.errors.push(error),
      onUnwanted: (more) => {
        this.inRecords += more;
      },
    });
    for await (const one of found) {
      const hits = (await this.#withoutCopies(one, await this.#filtered(one))).slice(0, limit - this.count);
      yield { ...one, hits };
      if (this.count === limit) return;
    }
  }

  /** The hits that are not copied from another searched session. */
  async #withoutCopies(
    { taskDir, dispatchId, envelope }: DispatchHits,
    hits: readonly SearchHit[],
  ): Promise<readonly SearchHit[]> {
    const { scope } = this.#search;
    if (envelope?.source?.heads === undefined || scope?.dispatchId != null) return hits;
    this.#copies ??= new CopiesAmong(await this.#searched());
    const copied = (await this.#copies.eventsOf({ taskDir, dispatchId }))?.copied;
    const own = hits.filter(({ event }) => copied?.has(event.id) !== true);
    this.#copied += hits.length - own.length;
    return own;
  }

  async #searched(): Promise<DispatchEntry[]> {
    const entries: DispatchEntry[] = [];
    for await (const entry of this.#store.dispatches(partOfStore(this.#search.scope))) entries.push(entry);
    return entries;
  }

  async #filtered({ taskDir, dispatchId, envelope, hits }: DispatchHits): Promise<readonly SearchHit[]> {
    const { request, signal } = this.#search;
    if (request.isOpen) return hits;
    if (envelope === null || !request.takes(envelope)) return [];
    const log = await this.#store.openDispatch({ taskDir, dispatchId });
    const filter = await request.forOneOf(pagedLog(log, signal));
    return hits.filter(({ event }) => filter.passes(event));
  }

  /** The names that the first events of a session give its agents: most agents get theirs there. */
  async #namesIn({ taskDir, dispatchId, hits }: DispatchHits): Promise<AgentNames> {
    const names = new AgentNames();
    if (hits.every(({ event }) => event.agentId === undefined)) return names;
    const log = await this.#store.openDispatch({ taskDir, dispatchId });
    for await (const { events } of log.pages({ limit: eventsWithNames })) {
      for (const event of events) names.learn(event);
      break;
    }
    return names;
  }
}

const modelKeys = new Set([...unsearchableKeys, 'model', 'languageModel']);

/** Whether a hit is in what people wrote, agents said or tools did: not only in a record of the harness or the name of a model. */
function hitsInTalk(words: EventWords): (event: CapturedEvent) => boolean {
  return (event) =>
    event.type !== 'agent:inference' &&
    event.type !== 'session:init' &&
    !isNoise(event) &&
    words.areIn(event, modelKeys);
}
