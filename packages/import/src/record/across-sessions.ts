import { CopiesAmong, type DispatchRef, type DispatchStore, type ListedDispatch } from '@hansard/dispatch';
import type { DispatchEnvelope, DispatchSource } from '@hansard/events';
import { createDispatchFacts, type FoundTitle, titleOf } from '@hansard/facts';
import { storeErrors } from '@hansard/provider';
import { importWriter, type RecordLogOptions, tableOf } from './record-log.ts';

interface Imported {
  readonly ref: DispatchRef;
  readonly envelope: DispatchEnvelope;
  readonly source: DispatchSource;
}

/** Records in imported sessions what others say of them: their titles, and what they have copied. */
export async function relateSessions(
  store: DispatchStore,
  options: Pick<RecordLogOptions, 'prices'>,
): Promise<void> {
  const listed: ListedDispatch[] = [];
  for await (const entry of store.dispatches()) if (!('error' in entry)) listed.push(entry);
  await titleBySummaries(store, listed);
  await keepCopies(store, listed, options);
}

/**
 * Keeps in the envelopes of sessions what they have of others, so that sums need not read their logs. A reader that sees other sessions, or a session
 * that has grown since, compares the logs itself.
 */
async function keepCopies(
  store: DispatchStore,
  listed: readonly ListedDispatch[],
  { prices }: Pick<RecordLogOptions, 'prices'>,
): Promise<void> {
  const copies = new CopiesAmong(listed, { prices: () => tableOf(prices) });
  for (const entry of listed) {
    const { source, folded } = entry.envelope;
    if (source === null) continue;
    const kept = await copies.kept(entry);
    if (kept === null || kept.among === source.copies?.among) continue;
    await letWait(async () => {
      await using dispatch = await store.openDispatch(entry, { write: true, ...importWriter });
      const { envelope } = dispatch;
      const isSame = envelope.source !== null && envelope.folded?.eventId === folded?.eventId;
      if (isSame && envelope.source !== null)
        await dispatch.update({ source: { ...envelope.source, copies: kept } });
      await dispatch.release();
    });
  }
}

/**
 * Gives imported sessions the titles that summaries in other sessions have for them, whichever was imported first. A summary
 * names the session by its last message. A message that is the last one of several sessions names none
 * of them. A title that was given to a session stays. Where no summary names a session any more, its own title returns.
 */
async function titleBySummaries(store: DispatchStore, listed: readonly ListedDispatch[]): Promise<void> {
  const { byId, byLastMessage, bySummary, titled } = listImported(listed);
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

function listImported(all: readonly ListedDispatch[]) {
  const byId = new Map<string, Imported>();
  const byLastMessage = new Map<string, Imported[]>();
  const bySummary = new Map<string, Imported>();
  const titled: Imported[] = [];
  for (const listed of all) {
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

/**
 * Not recorded now: another process writes the session, the session was deleted, or a log is damaged. The next import
 * tries again.
 */
const forLater: ReadonlySet<string> = new Set([
  'STORE_LOCKED',
  'STORE_DISPATCH_NOT_FOUND',
  'STORE_CORRUPT',
  'STORE_NEWER',
]);

/** Sets the title of a session to that of a summary, or without one back to its own. `before` has the summary that it was named by. */
async function retitle(
  store: DispatchStore,
  session: Imported,
  by: Imported | undefined,
  before: Imported | undefined,
): Promise<void> {
  const { ref, envelope } = session;
  const { titledBy, ...source } = session.source;
  await letWait(async () => {
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
  });
}

async function letWait(record: () => Promise<void>): Promise<void> {
  try {
    await record();
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
