import type { CapturedEvent, DispatchEnvelope, EventOf } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';

/** The agent whose transcript a row belongs to. */
export interface SessionAgent {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  /** Its name, followed by its id if several agents have that name; the id if it has no name. */
  readonly name: string;
  readonly languageModel: string | null;
  /** Levels below the dispatched agent: 0 for that agent, 1 for an agent that it created. */
  readonly depth: number;
}

/** The agents of a dispatch: the dispatched one first, then in the order in which they appear. */
export function sessionAgents(
  envelope: DispatchEnvelope,
  events: readonly CapturedEvent[],
): { readonly all: readonly SessionAgent[]; of(agentId: string | undefined): SessionAgent } {
  const created = new Map<string, EventOf<'agent:created'>>();
  const owners = new Map<string, string>();
  for (const event of events) {
    const agentId = event.agentId ?? '';
    owners.set(event.id, agentId);
    // A cause in an imported log may name a message instead of an event.
    if (event.messageId !== undefined && !owners.has(event.messageId)) owners.set(event.messageId, agentId);
    if (isReadableAs(event, 'agent:created') && !created.has(agentId)) created.set(agentId, event);
  }

  const nameOf = (agentId: string) => created.get(agentId)?.data.name;
  const languageModelOf = (agentId: string) => created.get(agentId)?.data.languageModel ?? null;
  const dispatched: SessionAgent = {
    agentId: '',
    name: nameOf('') ?? envelope.role,
    languageModel: languageModelOf(''),
    depth: 0,
  };
  const ids = [...new Set(events.flatMap(({ agentId }) => agentId ?? []))];
  const names = ids.map(nameOf);
  const others = ids.map((agentId, index): SessionAgent => {
    const given = names[index];
    const isShared = names.filter((name) => name === given).length > 1;
    const name = given === undefined ? agentId : isShared ? `${given} ${agentId}` : given;
    return {
      agentId,
      name,
      languageModel: languageModelOf(agentId),
      depth: depthOf(agentId, created, owners),
    };
  });
  const byId = new Map(others.map((agent) => [agent.agentId, agent]));
  return { all: [dispatched, ...others], of: (agentId = '') => byId.get(agentId) ?? dispatched };
}

function depthOf(
  agentId: string,
  created: ReadonlyMap<string, EventOf<'agent:created'>>,
  owners: ReadonlyMap<string, string>,
): number {
  const seen = new Set<string>();
  let depth = 0;
  let current = agentId;
  // In bad data agents can have created each other; each is counted once.
  while (current !== '' && !seen.has(current)) {
    seen.add(current);
    const event = created.get(current);
    if (event !== undefined && event.cause === undefined) return depth;
    depth += 1;
    const cause = [event?.cause ?? []].flat()[0];
    current = (cause === undefined ? undefined : owners.get(cause)) ?? '';
  }
  return depth;
}
