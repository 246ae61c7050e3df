import type { CapturedEvent } from '@hansard/events';

/** The names that the agents of running dispatches were given. */
export class AgentNames {
  readonly #byDispatch = new Map<string, Map<string, string>>();

  learn(dispatchId: string, { type, agentId, data }: CapturedEvent): void {
    if (type !== 'agent:created' || agentId === undefined || typeof data.name !== 'string') return;
    const names = this.#byDispatch.get(dispatchId) ?? new Map();
    this.#byDispatch.set(dispatchId, names.set(agentId, data.name));
  }

  /** The name, else the id; '' for the dispatched agent. */
  of(dispatchId: string, agentId = ''): string {
    return this.#byDispatch.get(dispatchId)?.get(agentId) ?? agentId;
  }

  forget(dispatchId: string): void {
    this.#byDispatch.delete(dispatchId);
  }
}
