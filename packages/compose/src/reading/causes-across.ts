import type { DispatchStore } from '@hansard/dispatch';
import { storeErrors } from '@hansard/provider';
import { type CausalRow, causesOf } from '@hansard/views';
import { harnessErrors } from '../harness-errors.ts';
import { resolveSession } from '../sessions/resolve-session.ts';
import { type OpenedSession, openedSession } from './opened-session.ts';

/** The causes in one session. */
export interface CausesInSession {
  readonly session: OpenedSession;
  /** In the order of its log. `distance` counts the links from the event that was asked for, also those between sessions. */
  readonly rows: readonly CausalRow[];
}

export interface CausesAcross {
  /** The session that was asked first, then those from which messages came. */
  readonly sessions: readonly CausesInSession[];
  /** The events of other sessions at which the search ends, because the store does not have them. */
  readonly lost: readonly {
    readonly dispatchId: string;
    readonly id: string;
    readonly hasSession: boolean;
  }[];
}

interface Place {
  readonly dispatchId: string;
  readonly id: string;
  readonly distance: number;
}

/**
 * The causes of an event or message, also in the sessions that sent messages to its session, and so on. Another session is read when a link
 * leads there that is at most `depth` links away; rows that are further away are left out there.
 *
 * @throws TypeError for an id that is not in the log; errors of the store
 */
export async function causesAcross(
  store: DispatchStore,
  asked: OpenedSession,
  id: string,
  depth: number,
): Promise<CausesAcross> {
  const first = causesOf(asked.index, id);
  const found = new Map([[asked, new Map(first.map((row) => [row.position, row]))]]);
  const opened = new Map<string, OpenedSession | null>([[asked.envelope.dispatchId, asked]]);
  const lost: { dispatchId: string; id: string; hasSession: boolean }[] = [];
  const nearest = new Map<string, number>();
  const places = linksFrom(first, depth);
  // The iteration includes what is added during it.
  for (const place of places) {
    const key = `${place.dispatchId} ${place.id}`;
    if ((nearest.get(key) ?? Number.POSITIVE_INFINITY) <= place.distance) continue;
    const isKnown = nearest.has(key);
    nearest.set(key, place.distance);
    let session = opened.get(place.dispatchId);
    if (session === undefined) {
      session = await readSender(store, asked, place.dispatchId);
      opened.set(place.dispatchId, session);
    }
    if (session === null || session.index.find(place.id) === null) {
      if (!isKnown) lost.push({ dispatchId: place.dispatchId, id: place.id, hasSession: session !== null });
      continue;
    }
    const rows = causesOf(session.index, place.id)
      .map((row) => ({ ...row, distance: row.distance + place.distance }))
      .filter((row) => row.distance <= depth);
    const known = found.get(session) ?? new Map<number, CausalRow>();
    found.set(session, known);
    for (const row of rows)
      if ((known.get(row.position)?.distance ?? Number.POSITIVE_INFINITY) > row.distance)
        known.set(row.position, row);
    places.push(...linksFrom(rows, depth));
  }
  const sessions = [...found].map(([session, rows]) => ({
    session,
    rows: [...rows.values()].sort((one, other) => one.position - other.position),
  }));
  return { sessions, lost };
}

/** Where the causes of rows are in other sessions. */
function linksFrom(rows: readonly CausalRow[], depth: number): Place[] {
  return rows.flatMap(({ because, distance }) =>
    distance >= depth
      ? []
      : because.flatMap(({ id, dispatchId }) =>
          dispatchId === undefined ? [] : [{ dispatchId, id, distance: distance + 1 }],
        ),
  );
}

/** The session that sent a message: in the same task, otherwise the only session with that id. Null: the store has no readable session with it. */
async function readSender(
  store: DispatchStore,
  asked: OpenedSession,
  dispatchId: string,
): Promise<OpenedSession | null> {
  try {
    const own = { taskDir: asked.taskDir, dispatchId };
    const place = (await store.findDispatch(own)) === null ? await resolveSession(store, dispatchId) : own;
    // A word can also be the end of an id.
    if (place.dispatchId !== dispatchId) return null;
    const { envelope } = await store.openDispatch(place);
    return await openedSession(store, place.taskDir, envelope);
  } catch (error) {
    if (harnessErrors.is(error) || storeErrors.is(error)) return null;
    throw error;
  }
}
