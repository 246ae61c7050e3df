import type { CapturedEvent } from '@hansard/events';
import { AgentNames } from '../agents/agent-names.ts';
import type { RowAgent } from './row.ts';

const takesPart = /^(agent|user):/;

/** The agents of a dispatch as far as its events name them, for a reader that takes them one by one. */
export class RowAgents {
  readonly #names = new AgentNames();
  readonly #depths = new Map<string, number>();
  /** Those that can take part now, in the order of their first events. */
  readonly #present = new Set<string>();
  readonly #left = new Set<string>();

  /** Reads what an event says about its agent. `creatorOf`: the agent of the event or message with an id; null: not known. */
  learn(event: CapturedEvent, creatorOf: (id: string) => string | null): void {
    const { type, agentId = '', cause } = event;
    this.#names.learn(event);
    if (!this.#depths.has(agentId)) {
      const [first] = [cause ?? []].flat();
      const isCreated = type === 'agent:created';
      const creator = isCreated && first !== undefined ? (creatorOf(first) ?? '') : '';
      // The root agent of a session has an id, and nothing created it.
      const isRoot = agentId === '' || (isCreated && first === undefined);
      this.#depths.set(agentId, isRoot ? 0 : (this.#depths.get(creator) ?? 0) + 1);
    }
    if (!takesPart.test(type)) return;
    if (!this.#left.has(agentId)) this.#present.add(agentId);
    if (type === 'agent:terminated') {
      this.#present.delete(agentId);
      this.#left.add(agentId);
    }
  }

  of(agentId = ''): RowAgent {
    return { agentId, name: this.#names.of(agentId), depth: this.#depths.get(agentId) ?? 0 };
  }

  nameOf(agentId: string): string {
    return this.#names.of(agentId);
  }

  /** The agents that can take part now, except one. */
  presentBeside(agentId: string | null): readonly string[] {
    return this.#present.size > 1 || agentId === null
      ? [...this.#present].filter((other) => other !== agentId)
      : [];
  }
}
