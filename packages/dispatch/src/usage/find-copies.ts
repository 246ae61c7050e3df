import { hash } from 'node:crypto';
import type { CapturedEvent, CopiesOfSource, DispatchEnvelope, EventOf, OpenCall } from '@hansard/events';
import {
  CopyFinder,
  createDispatchFacts,
  factsOf,
  openCallEvents,
  type PriceTable,
  type SessionCopies,
  sessionToCompare,
} from '@hansard/facts';
import { storeErrors } from '@hansard/provider';
import type { DispatchEntry, ListedDispatch } from '../store/dispatch-entry.ts';
import type { DispatchRef } from '../store/dispatch-ref.ts';
import type { DispatchStore } from '../store/dispatch-store.ts';

/** A dispatch without what it has copied from others. */
interface CountedDispatch {
  /** Its figures are those of the events that it has not copied. */
  readonly envelope: DispatchEnvelope;
  readonly copies: CopiesOfSource;
}

export interface FindCopiesOptions {
  /** The table for calls without a stated cost, if it is needed. Absent: the estimates of a dispatch with copies are not known. */
  readonly prices?: () => PriceTable | null | Promise<PriceTable | null>;
}

/**
 * The copies among some dispatches: what one of them has because it began with a copy of another one's records. Envelopes say which dispatches
 * are compared, and what an import found if they are as it left them. Logs are read otherwise, or when events are asked for.
 */
export class CopiesAmong {
  readonly #groups = new Map<string, CopyGroup>();
  readonly #prices: FindCopiesOptions['prices'];

  /** Two dispatches are compared if their logs have a first answer in common, or if one names the other as its origin. */
  constructor(entries: Iterable<DispatchEntry>, { prices }: FindCopiesOptions = {}) {
    this.#prices = prices;
    for (const group of groupsOf(entries))
      for (const { taskDir, dispatchId } of group.entries)
        this.#groups.set(`${taskDir} ${dispatchId}`, group);
  }

  /** What is copied in a dispatch, and its envelope without that. Null: nothing. */
  async without(ref: DispatchRef): Promise<CountedDispatch | null> {
    const group = this.#groupOf(ref);
    const entry = group?.entries.find(({ dispatchId }) => dispatchId === ref.dispatchId);
    if (group === undefined || entry === undefined) return null;
    const { envelope } = entry;
    const kept = envelope.source?.copies;
    const copies = kept?.among === group.name ? kept : await this.#read(group, entry);
    if (copies.figures === undefined) return copies.differing === undefined ? null : { envelope, copies };
    return { envelope: { ...envelope, ...copies.figures }, copies };
  }

  /** The events that a dispatch has from another one, and what it lacks. Null: none. The logs are read. */
  async eventsOf(ref: DispatchRef): Promise<SessionCopies | null> {
    return (await this.#groupOf(ref)?.found())?.get(ref.dispatchId) ?? null;
  }

  /** The other dispatches that have events of a dispatch, whichever has a copy, and the ids of those events there. The logs are read. */
  async shared(
    ref: DispatchRef,
  ): Promise<readonly (DispatchRef & { readonly events: ReadonlySet<string> })[]> {
    const group = this.#groupOf(ref);
    const found = (await group?.found()) ?? new Map<string, SessionCopies>();
    const shared = new Map<string, Set<string>>();
    const note = (dispatchId: string, id: string) =>
      shared.set(dispatchId, (shared.get(dispatchId) ?? new Set()).add(id));
    const { copied = new Map(), originals = new Map() } = found.get(ref.dispatchId) ?? {};
    const own = new Set<string>();
    for (const [id, owner] of copied) {
      const original = originals.get(id) ?? id;
      own.add(`${owner} ${original}`);
      note(owner, original);
    }
    for (const [dispatchId, other] of found)
      for (const [id, owner] of dispatchId === ref.dispatchId ? [] : other.copied)
        if (owner === ref.dispatchId || own.has(`${owner} ${other.originals.get(id) ?? id}`))
          note(dispatchId, id);
    return [...shared].flatMap(([dispatchId, events]) => {
      const entry = group?.entries.find((one) => one.dispatchId === dispatchId);
      return entry === undefined ? [] : [{ taskDir: entry.taskDir, dispatchId, events }];
    });
  }

  /** Names the dispatches that a dispatch is compared with, as they are now. Null: it is compared with none. */
  nameOf(ref: DispatchRef): string | null {
    return this.#groupOf(ref)?.name ?? null;
  }

  /** What an import keeps of a dispatch. The logs are read unless it is kept already. */
  async kept(entry: ListedDispatch): Promise<CopiesOfSource | null> {
    const group = this.#groupOf(entry);
    if (group === undefined) return null;
    const kept = entry.envelope.source?.copies;
    return kept?.among === group.name ? kept : this.#read(group, entry);
  }

  #groupOf({ taskDir, dispatchId }: DispatchRef): CopyGroup | undefined {
    return this.#groups.get(`${taskDir} ${dispatchId}`);
  }

  async #read(group: CopyGroup, { envelope, log }: ListedDispatch): Promise<CopiesOfSource> {
    const copies = (await group.found()).get(envelope.dispatchId);
    if (copies === undefined) return { among: group.name, events: 0, calls: 0, of: [] };
    const { copied, raised, isOriginKnown, differing } = copies;
    const isSame = copied.size + raised.size === 0;
    const table = envelope.prices === null || isSame ? null : await this.#prices?.();
    const facts = createDispatchFacts({ prices: table });
    let calls = 0;
    const observe = (event: CapturedEvent) => {
      if (!copied.has(event.id)) facts.observe(raised.get(event.id) ?? event);
      else if (event.type === 'agent:inference') calls += 1;
    };
    if (!isSame) for await (const { event } of log.events()) observe(event);
    const openCalls: OpenCall[] = [];
    for (const call of envelope.openCalls ?? []) {
      if (copied.has(call.id)) calls += call.usage.calls;
      else openCalls.push(raisedCall(call, raised.get(call.id), table));
    }
    const { usage, costUsd, models, periods, prices } = facts;
    return {
      ...{ among: group.name, events: copied.size, calls, of: [...new Set(copied.values())].sort() },
      ...(isOriginKnown ? {} : { isGuessed: true }),
      ...(differing.length === 0 ? {} : { differing: differing.length }),
      ...(isSame
        ? {}
        : {
            figures: {
              usage,
              cost: costUsd,
              models,
              periods,
              prices,
              openCalls: openCalls.length === 0 ? null : openCalls,
            },
          }),
    };
  }
}

/**
 * The events of a dispatch that are copied from another dispatch of the store, with that other dispatch. Null: none. An imported dispatch is
 * not compared for this if its import has found none, and a native one only if it is a fork.
 */
export async function copiedEvents(
  store: Pick<DispatchStore, 'dispatches'>,
  ref: DispatchRef,
  { source, forkedFrom }: DispatchEnvelope,
): Promise<SessionCopies['copied'] | null> {
  const isNativeFork = forkedFrom?.from.product === 'hansard';
  if ((source?.copies?.events ?? 0) === 0 && !isNativeFork) return null;
  const entries: DispatchEntry[] = [];
  for await (const entry of store.dispatches()) entries.push(entry);
  return (await new CopiesAmong(entries).eventsOf(ref))?.copied ?? null;
}

function raisedCall(
  call: OpenCall,
  larger: EventOf<'agent:inference'> | undefined,
  table: PriceTable | null | undefined,
): OpenCall {
  if (larger === undefined) return call;
  const { models, prices } = factsOf([larger], { prices: table });
  const [usage = call.usage] = models ?? [];
  return { ...call, usage: { ...usage, calls: call.usage.calls }, prices };
}

/** Dispatches that are compared. Their logs are read once. */
class CopyGroup {
  readonly entries: readonly ListedDispatch[];
  /** Changes when one of them grows, or another one joins. */
  readonly name: string;
  #found: Promise<ReadonlyMap<string, SessionCopies>> | null = null;

  constructor(entries: readonly ListedDispatch[]) {
    this.entries = entries;
    const states = entries.map(({ dispatchId, envelope: { folded, openCalls } }) =>
      JSON.stringify([dispatchId, folded?.through, folded?.eventId, openCalls]),
    );
    this.name = hash('sha256', states.sort().join('\n'), 'hex').slice(0, 32);
  }

  found(): Promise<ReadonlyMap<string, SessionCopies>> {
    this.#found ??= this.#read();
    return this.#found;
  }

  async #read(): Promise<ReadonlyMap<string, SessionCopies>> {
    const finder = new CopyFinder();
    for (const { envelope, log } of this.entries) {
      finder.begin(sessionToCompare(envelope));
      try {
        for await (const { events } of log.pages()) for (const event of events) finder.add(event);
      } catch (error) {
        // The caller reads the dispatch and reports the error. What can be read is compared.
        if (!storeErrors.is(error, 'STORE_CORRUPT') && !storeErrors.is(error, 'STORE_INVALID_PATH'))
          throw error;
      }
      for (const event of openCallEvents(envelope, () => false)) finder.add(event);
    }
    return finder.find();
  }
}

function groupsOf(entries: Iterable<DispatchEntry>): CopyGroup[] {
  const listed = new Map<string, ListedDispatch>();
  /** Imports whose first answers are not known: only a fork of one says that it has copies. */
  const unlisted = new Map<string, ListedDispatch>();
  const named = new Set<string>();
  const first = new Map<string, string>();
  const up = new Map<string, string>();
  const rootOf = (id: string) => {
    let at = id;
    for (let next = up.get(at); next !== undefined; next = up.get(at)) at = next;
    return at;
  };
  const join = (one: string, other: string) => {
    const [from, to] = [rootOf(one), rootOf(other)];
    if (from !== to) up.set(from, to);
  };
  for (const entry of entries) {
    // If two tasks have the same session, one of the two is compared.
    if ('error' in entry || listed.has(entry.dispatchId)) continue;
    const { dispatchId, envelope } = entry;
    const { heads = [], format } = envelope.source ?? {};
    const origin = envelope.forkedFrom?.from.dispatchId;
    if (heads.length > 0 || origin !== undefined) listed.set(dispatchId, entry);
    for (const head of heads) {
      const name = `${format} ${head}`;
      const other = first.get(name);
      if (other === undefined) first.set(name, dispatchId);
      else join(dispatchId, other);
    }
    // What an import has found holds also where the other dispatch is not seen.
    for (const one of envelope.source?.copies?.of ?? []) join(dispatchId, one);
    if (origin !== undefined) {
      named.add(origin);
      join(dispatchId, origin);
    } else if (envelope.source === null) listed.set(dispatchId, entry);
    if (!listed.has(dispatchId)) unlisted.set(dispatchId, entry);
  }
  for (const [dispatchId, entry] of unlisted) if (named.has(dispatchId)) listed.set(dispatchId, entry);
  const groups = new Map<string, ListedDispatch[]>();
  for (const [dispatchId, entry] of listed) {
    const root = rootOf(dispatchId);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [entry]);
    else group.push(entry);
  }
  return [...groups.values()].filter(({ length }) => length > 1).map((group) => new CopyGroup(group));
}
