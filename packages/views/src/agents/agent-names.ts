import type { CapturedEvent } from '@hansard/events';
import { isReadableAs, neutraliseControlsInLine } from '@hansard/events/plain';

/** The names of the agents of one dispatch, for a reader that takes its events one by one. */
export class AgentNames {
  readonly #names = new Map<string, string>();
  readonly #bearers = new Map<string, number>();

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
    this.#bearers.set(name, (this.#bearers.get(name) ?? 0) + 1);
  }

  /**
   * The agent's name, followed by its id if several agents have that name; the id if it has no name; '' for a dispatched agent
   * without a name.
   */
  of(agentId = ''): string {
    const id = neutraliseControlsInLine(agentId);
    const name = this.#names.get(agentId);
    if (name === undefined) return id;
    return this.#bearers.get(name) === 1 || id === '' ? name : `${name} ${id}`;
  }
}
