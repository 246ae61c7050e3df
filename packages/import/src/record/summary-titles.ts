import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope, DispatchSource } from '@hansard/events';
import { createDispatchFacts, type FoundTitle, titleOf } from '@hansard/facts';
import { storeErrors } from '@hansard/provider';
import { importWriter } from './record-log.ts';

interface Imported {
  readonly ref: DispatchRef;
  readonly envelope: DispatchEnvelope;
  readonly source: DispatchSource;
}

/**
 * Gives imported sessions the titles that summaries in other sessions have for them, whichever was imported first. A summary
 * names the session by its last message. A message that is the last one of several sessions names none
 * of them. A title that was given to a session stays. Where no summary names a session any more, its own title returns.
 */
export async function titleBySummaries(store: DispatchStore): Promise<void> {
  const { byId, byLastMessage, bySummary, titled } = await listImported(store);
  const named = new Map<Imported, Imported>();
  for (const [lastMessage, summarising] of bySummary) {
    const [session, other] = byLastMessage.get(lastMessage) ?? [];
    if (session !== undefined && other === undefined) named.set(session, summarising);
  }
  for (const session of new Set([...named.keys(), ...titled])) {
    const [by, before] = [named.get(session), byId.get(session.source.titledBy ?? '')];
    if (by === undefined || by !== before) await retitle(store, session, by, before);
  }
}

async function listImported(store: DispatchStore) {
  const byId = new Map<string, Imported>();
  const byLastMessage = new Map<string, Imported[]>();
  const bySummary = new Map<string, Imported>();
  const titled: Imported[] = [];
  for await (const listed of store.dispatches()) {
    if ('error' in listed) continue;
    const { dispatchId, envelope } = listed;
    const { source } = envelope;
    if (source === null) continue;
    const imported = { ref: listed, envelope, source };
    const { lastMessage, summarises = [], titledBy } = source;
    byId.set(dispatchId, imported);
    if (lastMessage !== undefined)
      byLastMessage.set(lastMessage, [...(byLastMessage.get(lastMessage) ?? []), imported]);
    // Of several summaries, that of the session with the greatest id counts, so that the order of imports does not matter.
    for (const leaf of summarises)
      if ((bySummary.get(leaf)?.ref.dispatchId ?? '') < dispatchId) bySummary.set(leaf, imported);
    if (titledBy !== undefined) titled.push(imported);
  }
  return { byId, byLastMessage, bySummary, titled };
}

/** Titles that nobody gives at the moment: somebody else writes the session, it was deleted, or a log is damaged. The next import tries again. */
const forLater: ReadonlySet<string> = new Set(['STORE_LOCKED', 'STORE_DISPATCH_NOT_FOUND', 'STORE_CORRUPT']);

/** Sets the title of a session to that of a summary, or without one back to its own. `before` has the summary that it was named by. */
async function retitle(
  store: DispatchStore,
  session: Imported,
  by: Imported | undefined,
  before: Imported | undefined,
): Promise<void> {
  const { ref, envelope } = session;
  const { titledBy, ...source } = session.source;
  try {
    const own = await ownTitle(store, ref);
    const text = own?.text ?? null;
    const isOwn = envelope.title === null || envelope.title === text;
    const isGiven =
      own?.isGiven === true || !(isOwn || (await summariesIn(store, before)).includes(envelope.title));
    const summary = isGiven ? null : (await summariesIn(store, by, source.lastMessage)).at(-1);
    const title = isGiven ? envelope.title : (summary ?? text);
    const next: DispatchSource =
      summary == null || by === undefined ? source : { ...source, titledBy: by.ref.dispatchId };
    if (title === envelope.title && next.titledBy === titledBy) return;
    await using dispatch = await store.openDispatch(ref, { write: true, ...importWriter });
    await dispatch.update({ title, source: next });
    await dispatch.release();
  } catch (error) {
    if (!storeErrors.is(error) || !forLater.has(error.code)) throw error;
  }
}

async function ownTitle(store: DispatchStore, ref: DispatchRef): Promise<FoundTitle | null> {
  const facts = createDispatchFacts();
  const log = await store.openDispatch(ref);
  for await (const { event } of log.events()) facts.observe(event);
  return facts.title;
}

/** The titles that the summaries in a log give, for one last message or for all. Empty without a log. */
async function summariesIn(
  store: DispatchStore,
  summarising: Imported | undefined,
  lastMessage?: string,
): Promise<(string | null)[]> {
  if (summarising === undefined) return [];
  const titles: string[] = [];
  const log = await store.openDispatch(summarising.ref);
  for await (const { event } of log.events())
    if (event.type === 'system:summary' && (lastMessage ?? event.data.leafUuid) === event.data.leafUuid)
      titles.push(titleOf(event.data.summary));
  return titles.filter((title) => title !== '');
}
