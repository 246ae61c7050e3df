import { AgentNames } from '@hansard/views';

/** The names of the agents of running dispatches. */
export class DispatchNames {
  readonly #byDispatch = new Map<string, AgentNames>();

  of(dispatchId: string): AgentNames {
    const names = this.#byDispatch.get(dispatchId) ?? new AgentNames();
    this.#byDispatch.set(dispatchId, names);
    return names;
  }

  forget(dispatchId: string): void {
    this.#byDispatch.delete(dispatchId);
  }
}
