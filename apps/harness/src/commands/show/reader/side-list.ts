import type { Scope } from '@hansard/compose';
import type { DispatchRef, DispatchStore } from '@hansard/dispatch';
import type { DispatchEnvelope, DispatchStatus } from '@hansard/events';
import { treeOf } from '@hansard/viewer/rows';
import { type DispatchTreeNode, dispatchedAgent, dispatchTree } from '@hansard/views';
import type { ReadLog } from './read-log.ts';

/** The most sessions of a task at the side. */
const mostSessions = 2_000;

/** A session at the side. */
export interface SideSession {
  readonly dispatchId: string;
  readonly depth: number;
  readonly name: string;
  readonly status: DispatchStatus | 'unreadable';
}

/** A line at the side: a session, or an agent of the session that is shown. */
export type SideEntry =
  | ({ readonly kind: 'session' } & SideSession)
  | {
      readonly kind: 'agent';
      /** '' for the dispatched agent. */
      readonly agentId: string;
      readonly depth: number;
      readonly name: string;
      readonly hasEnded: boolean;
    };

/** The sessions that a person switches between: those of a task, or one with those above and below it. */
export async function sideSessions(
  store: DispatchStore,
  { taskDir, dispatchId }: Pick<Scope, 'taskDir' | 'dispatchId'>,
  takes: (envelope: DispatchEnvelope) => boolean,
): Promise<SideSession[]> {
  if (dispatchId !== null) return treeOf(store, { taskDir, dispatchId });
  const envelopes: DispatchEnvelope[] = [];
  const unreadable: SideSession[] = [];
  for await (const entry of store.dispatches({ taskDir, limit: mostSessions })) {
    if (!('error' in entry)) envelopes.push(entry.envelope);
    else if (entry.dispatchId !== undefined)
      unreadable.push({
        dispatchId: entry.dispatchId,
        depth: 0,
        name: entry.dispatchId,
        status: 'unreadable',
      });
  }
  return [...dispatchTree(envelopes.filter(takes)).flatMap((node) => [...below(node, 0)]), ...unreadable];
}

function* below({ envelope, children }: DispatchTreeNode, depth: number): Generator<SideSession> {
  const { dispatchId, title, role, status } = envelope;
  yield { dispatchId, depth, name: title ?? role, status };
  for (const child of children) yield* below(child, depth + 1);
}

/** The lines of the side: the agents stand below their session. */
export async function sideEntries(sessions: readonly SideSession[], shown: ReadLog): Promise<SideEntry[]> {
  const agents = await shown.rows.agents();
  const { role } = shown.log.envelope;
  return withShown(sessions, shown.ref, shown.log.envelope).flatMap((session): SideEntry[] => {
    const entry: SideEntry = { kind: 'session', ...session };
    if (session.dispatchId !== shown.ref.dispatchId || agents.length === 0) return [entry];
    const depth = session.depth + 1;
    const own = shown.hasDispatchedAgent ? [{ id: '', name: role || dispatchedAgent, hasEnded: false }] : [];
    const all = [...own, ...agents.filter(({ id }) => id !== '')];
    return [
      entry,
      ...all.map(({ id, ...agent }): SideEntry => ({ kind: 'agent', agentId: id, depth, ...agent })),
    ];
  });
}

/** A session is at the side as soon as it is shown. */
function withShown(
  sessions: readonly SideSession[],
  { dispatchId }: DispatchRef,
  { title, role, status }: DispatchEnvelope,
): readonly SideSession[] {
  if (sessions.some((session) => session.dispatchId === dispatchId)) return sessions;
  return [{ dispatchId, depth: 0, name: title ?? role, status }, ...sessions];
}
