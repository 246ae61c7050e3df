import type { CapturedEvent } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import type { LogDiagnostic } from './diagnostic.ts';

/** An agent of a log. */
export interface LogAgent {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly name: string | null;
  /** For display: its name, followed by its id if several agents have that name; the id if it has no name. */
  readonly label: string;
  readonly languageModel: string | null;
  /** The event that created it; null: not in the log. */
  readonly created: CapturedEvent | null;
  /** The event that ended it; null: it was not ended, or was revived. */
  readonly terminated: CapturedEvent | null;
}

/** The most ids of agents with one name that a diagnostic lists. */
const mostNamed = 8;

export const takesPart = /^(agent|user):/;

/** The pass that finds the agents of a log. */
export function readAgents(events: readonly CapturedEvent[]): {
  /** By id, in the order of their first events. */
  readonly agents: ReadonlyMap<string, LogAgent>;
  readonly diagnostics: readonly LogDiagnostic[];
} {
  const firstEvents = new Map<string, CapturedEvent>();
  const created = new Map<string, CapturedEvent>();
  const terminated = new Map<string, CapturedEvent>();
  const diagnostics: LogDiagnostic[] = [];
  for (const event of events) {
    const { id: eventId, type, agentId = '' } = event;
    if (!takesPart.test(type)) continue;
    if (!firstEvents.has(agentId)) firstEvents.set(agentId, event);
    if (type === 'agent:terminated') terminated.set(agentId, event);
    if (type === 'agent:revived') terminated.delete(agentId);
    if (type !== 'agent:created') continue;
    const earlier = created.get(agentId);
    if (earlier === undefined) created.set(agentId, event);
    else {
      const message = `${eventId} creates agent ${agentId}, which ${earlier.id} created before.`;
      diagnostics.push({ code: 'agent_created_twice', eventId, message });
    }
  }

  const unlabelled = [...firstEvents].map(([agentId, first]): Omit<LogAgent, 'label'> => {
    const event = created.get(agentId) ?? null;
    if (event === null && agentId !== '') {
      const message = `Agent ${agentId} takes part from ${first.id} on, but was never created.`;
      diagnostics.push({ code: 'agent_not_created', eventId: first.id, message });
    }
    const data = event !== null && isReadableAs(event, 'agent:created') ? event.data : {};
    const { name = null, languageModel = null } = data;
    return { agentId, name, languageModel, created: event, terminated: terminated.get(agentId) ?? null };
  });
  const byName = Map.groupBy(unlabelled, ({ name }) => name);
  for (const [name, bearers] of byName) {
    const second = bearers[1];
    if (name === null || second === undefined) continue;
    const shown = bearers.slice(0, mostNamed).map(({ agentId }) => agentId);
    const rest = bearers.length - shown.length;
    const ids = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
    const message = `${bearers.length} agents are named ${name}: ${ids}.`;
    diagnostics.push({ code: 'agent_name_shared', eventId: second.created?.id ?? second.agentId, message });
  }
  const labelled = unlabelled.map((agent): [string, LogAgent] => {
    const isShared = (byName.get(agent.name)?.length ?? 0) > 1;
    return [agent.agentId, { ...agent, label: labelOf(agent, isShared) }];
  });
  return { agents: new Map(labelled), diagnostics };
}

/**
 * The agents with an id, name or label. An id is preferred to a name, and an exact match to one that ignores case. Empty if
 * none matches.
 */
export function agentsNamed(
  { agents }: { readonly agents: ReadonlyMap<string, LogAgent> },
  idOrName: string,
): LogAgent[] {
  const byId = agents.get(idOrName);
  if (byId !== undefined) return [byId];
  const all = [...agents.values()];
  const exact = all.filter(({ name, label }) => name === idOrName || label === idOrName);
  if (exact.length > 0) return exact;
  const wanted = idOrName.toLowerCase();
  return all.filter(({ name, label }) => name?.toLowerCase() === wanted || label.toLowerCase() === wanted);
}

/** The id of the only agent with an id, name or label. Null: there is none, or several. */
export function idOfName(agents: ReadonlyMap<string, LogAgent>, name: string): string | null {
  const [agent, ...others] = agentsNamed({ agents }, name);
  return agent === undefined || others.length > 0 ? null : agent.agentId;
}

/**
 * The agent with an id, name or label.
 *
 * @throws TypeError if no agent or several match; `agentsNamed` returns them without throwing
 */
export function agentNamed(
  index: { readonly agents: ReadonlyMap<string, LogAgent> },
  idOrName: string,
): LogAgent {
  const [agent, ...others] = agentsNamed(index, idOrName);
  if (agent === undefined) {
    const known = [...index.agents.values()].map(({ label }) => label).join(', ');
    throw new TypeError(`No agent of this log is named ${idOrName}; it has ${known || 'none'}.`);
  }
  if (others.length > 0) {
    const ids = [agent, ...others].map(({ agentId }) => agentId).join(', ');
    throw new TypeError(`Several agents are named ${idOrName}; name one by its id: ${ids}.`);
  }
  return agent;
}

function labelOf(agent: Pick<LogAgent, 'agentId' | 'name'>, isShared: boolean): string {
  if (agent.name === null) return agent.agentId === '' ? 'dispatched agent' : agent.agentId;
  return isShared && agent.agentId !== '' ? `${agent.name} ${agent.agentId}` : agent.name;
}
