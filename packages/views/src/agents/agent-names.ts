import type { CapturedEvent } from '@hansard/events';
import { neutraliseControlsInLine } from '../text/neutralise-controls.ts';
import { isReadableAs } from '../transcript/is-readable-as.ts';

/** What to call the agents of one dispatch, as far as its events have told: for whoever reads them one by one. */
export class AgentNames {
  readonly #names = new Map<string, string>();
  readonly #bearers = new Map<string, number>();

  /** Takes in what an event tells of names; of most nothing. */
  learn(event: CapturedEvent): void {
    const { agentId = '' } = event;
    if (event.type !== 'agent:created' || this.#names.has(agentId)) return;
    if (!isReadableAs(event, 'agent:created') || event.data.name === undefined) return;
    this.add(agentId, event.data.name);
  }

  /** Takes in a name that was given before. An agent keeps its first one. */
  add(agentId: string, given: string): void {
    if (this.#names.has(agentId)) return;
    const name = neutraliseControlsInLine(given);
    this.#names.set(agentId, name);
    this.#bearers.set(name, (this.#bearers.get(name) ?? 0) + 1);
  }

  /** The agent's name, with its id where several share the name; the id where it has none; '' for the dispatched agent. */
  of(agentId = ''): string {
    const id = neutraliseControlsInLine(agentId);
    const name = this.#names.get(agentId);
    if (name === undefined) return id;
    return this.#bearers.get(name) === 1 || id === '' ? name : `${name} ${id}`;
  }
}
