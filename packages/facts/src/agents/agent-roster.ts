import type { CapturedEvent } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';
import { findNamed, type NamedAnswer } from './find-named.ts';

/** An agent of a dispatch, as its events name it. */
export interface NamedAgent {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly name: string | null;
}

/** What the dispatched agent is called, if it has no name. */
const dispatched = 'dispatched agent';

/** The agents of one dispatch, given its events one by one. It grows with the agents alone. */
export class AgentRoster {
  readonly #names = new Map<string, string | null>();
  readonly #role: string | null;

  /** `role`: that of the dispatch, which also names the dispatched agent. */
  constructor(role: string | null = null) {
    this.#role = role;
  }

  learn(event: CapturedEvent): void {
    const { agentId = '' } = event;
    if (!this.#names.has(agentId)) this.#names.set(agentId, null);
    if (event.type !== 'agent:created' || this.#names.get(agentId) !== null) return;
    if (isReadableAs(event, 'agent:created')) this.#names.set(agentId, event.data.name ?? null);
  }

  /** In the order of their first events. */
  get agents(): readonly NamedAgent[] {
    return [...this.#names].map(([agentId, name]) => ({ agentId, name }));
  }

  /** The agent with an id, the end or the beginning of one, or a name: see `findNamed`. */
  find(wanted: string): NamedAnswer<NamedAgent> {
    return findNamed(this.agents, wanted, ({ agentId, name }) => ({
      id: agentId,
      names: agentId === '' ? [name, this.#role, dispatched] : [name],
    }));
  }

  /** An agent as an error lists it: its name and id. */
  label({ agentId, name }: NamedAgent): string {
    if (agentId === '') return name ?? this.#role ?? dispatched;
    return name === null ? agentId : `${name} (${agentId})`;
  }
}
