import type { CapturedEvent } from '@hansard/events';

export interface AgentFoldsOptions<State> {
  /** Returns the readable events of an agent that `add` had received when `read` was called, in the order of the log. */
  readonly read: (agentId: string) => Promise<readonly CapturedEvent[]>;
  readonly create: () => State;
  /** Adds events of the agent to its state. */
  readonly observe: (state: State, events: readonly CapturedEvent[], agentId: string) => void;
}

interface Held<State> {
  readonly state: Promise<State>;
  /** Recorded events of the agent that the state does not have yet. They wait until the state is used. */
  fresh: CapturedEvent[];
}

/**
 * A fold over the events of each agent. The states of agents that are not in memory are rebuilt from the log when needed.
 *
 * Invariant: a state and its fresh events have each event that was added, once. A rebuild therefore reads up to the last
 * event that was added when it began, although the log may be longer by then: the rest arrives through `add`.
 */
export class AgentFolds<State> {
  readonly #held = new Map<string, Held<State>>();
  readonly #options: AgentFoldsOptions<State>;

  constructor(options: AgentFoldsOptions<State>) {
    this.#options = options;
  }

  /** The state with everything that was added before it resolves. */
  async of(agentId: string): Promise<State> {
    const held = this.#held.get(agentId) ?? this.#rebuild(agentId);
    const state = await held.state;
    const { fresh } = held;
    held.fresh = [];
    if (fresh.length > 0) this.#options.observe(state, fresh, agentId);
    return state;
  }

  /** Adds events that are durable, in the order of the log. Keeps them: they must not change. */
  add(events: readonly CapturedEvent[]): void {
    for (const event of events) {
      const { type, agentId } = event;
      if (agentId === undefined) continue;
      if (type === 'agent:created' && !this.#held.has(agentId)) this.#hold(agentId, this.#options.create());
      this.#held.get(agentId)?.fresh.push(event);
    }
  }

  evict(agentId: string): void {
    this.#held.delete(agentId);
  }

  #rebuild(agentId: string): Held<State> {
    const { read, create, observe } = this.#options;
    const held = this.#hold(
      agentId,
      read(agentId).then((events) => {
        const state = create();
        observe(state, events, agentId);
        return state;
      }),
    );
    held.state.catch(() => {
      if (this.#held.get(agentId) === held) this.#held.delete(agentId);
    });
    return held;
  }

  #hold(agentId: string, state: State | Promise<State>): Held<State> {
    const held = { state: Promise.resolve(state), fresh: [] };
    this.#held.set(agentId, held);
    return held;
  }
}
