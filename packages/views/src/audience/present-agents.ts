import type { CapturedEvent } from '@hansard/events';

const takesPart = /^(agent|user):/;

/**
 * The agents that can take part, as the events of a log come: each from its first event or delivery until it ends. What comes
 * later does not bring it back; only its creation or revival does. Agents of hooks are not among them: they watch.
 */
export class PresentAgents {
  readonly #present = new Set<string>();
  /** Those that ended, and those of hooks. */
  readonly #ended = new Set<string>();
  /** The answers of `beside` until the next change. Each text asks for one. */
  readonly #beside = new Map<string | null, readonly string[]>();

  /** '' is the dispatched agent itself. */
  has(agentId: string): boolean {
    return this.#present.has(agentId);
  }

  /** The ids of all but one, in the order in which they came. */
  beside(agentId: string | null): readonly string[] {
    let others = this.#beside.get(agentId);
    if (others === undefined) {
      others = [...this.#present].filter((other) => other !== agentId);
      this.#beside.set(agentId, others);
    }
    return others;
  }

  observe({ type, agentId = '', data }: CapturedEvent): void {
    if (!takesPart.test(type)) return;
    if (type === 'agent:terminated' || (type === 'agent:created' && data.hook !== undefined)) {
      this.#ended.add(agentId);
      if (this.#present.delete(agentId)) this.#beside.clear();
      return;
    }
    if (type === 'agent:created' || type === 'agent:revived') this.#ended.delete(agentId);
    if (this.#ended.has(agentId) || this.#present.has(agentId)) return;
    this.#present.add(agentId);
    this.#beside.clear();
  }
}
