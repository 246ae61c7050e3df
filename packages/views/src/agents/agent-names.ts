import type { CapturedEvent } from '@hansard/events';
import { isReadableAs, neutraliseControlsInLine } from '@hansard/events/plain';

/** The names of the agents of one dispatch, for a reader that takes its events one by one. */
export class AgentNames {
  readonly #names = new Map<string, string>();
  /** The ids of the agents with a name. */
  readonly #bearers = new Map<string, string[]>();

  /** Reads the name that an event gives an agent. Most events give none. */
  learn(event: CapturedEvent): void {
    const { agentId = '' } = event;
    if (event.type !== 'agent:created' || this.#names.has(agentId)) return;
    if (!isReadableAs(event, 'agent:created') || event.data.name === undefined) return;
    this.add(agentId, event.data.name);
  }

  /** Adds a name that is already known. An agent keeps its first name. */
  add(agentId: string, given: string): void {
    if (this.#names.has(agentId)) return;
    const name = neutraliseControlsInLine(given);
    this.#names.set(agentId, name);
    const bearers = this.#bearers.get(name);
    if (bearers === undefined) this.#bearers.set(name, [agentId]);
    else bearers.push(agentId);
  }

  /**
   * The agent's name, followed by its id if several agents have that name; the id if it has no name; '' for a dispatched agent
   * without a name.
   */
  of(agentId = ''): string {
    const id = neutraliseControlsInLine(agentId);
    const name = this.#names.get(agentId);
    if (name === undefined) return id;
    return this.#bearers.get(name)?.length === 1 || id === '' ? name : `${name} ${id}`;
  }

  /** The id of the only agent with a name. Null: none has it yet, or several have it. */
  bearerOf(name: string): string | null {
    const [bearer = null, ...others] = this.#bearers.get(neutraliseControlsInLine(name)) ?? [];
    return others.length === 0 ? bearer : null;
  }
}
