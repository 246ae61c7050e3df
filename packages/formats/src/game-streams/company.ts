import { type CapturedEvent, isEventOf } from '@hansard/events';
import { OpenAudience, PresentAgents } from '@hansard/views';
import type { GameMapping } from './game-mapping.ts';
import { rosterNewsOf } from './roster.ts';

/**
 * The agents that can receive an utterance now: every present agent or, if events of the game name its players, those
 * that still take part.
 */
export class Company {
  readonly #mapping: GameMapping;
  readonly #present = new PresentAgents();
  /** The names that the agents got when they were created, by id. */
  readonly #named = new Map<string, string>();
  readonly #dead = new Set<string>();
  /** Null if no event of the game has named the players. */
  #living: Set<string> | null = null;

  constructor(mapping: GameMapping) {
    this.#mapping = mapping;
  }

  observe(event: CapturedEvent): void {
    const { agentId = '' } = event;
    if (isEventOf(event, 'agent:created')) this.#named.set(agentId, event.data.name ?? agentId);
    this.#present.observe(event);
    const news = rosterNewsOf(this.#mapping, event);
    if (news === null) return;
    if (news.living !== null) this.#living = new Set(news.living);
    else if (this.#living === null && news.players.length > 0) this.#living = new Set(news.players);
    if (news.died === null) return;
    this.#dead.add(news.died);
    this.#living?.delete(news.died);
  }

  /** The audience of what an agent says now. */
  audience(speakerId: string): OpenAudience {
    const others = this.#present.beside(speakerId).filter((agentId) => {
      const name = this.#named.get(agentId) ?? agentId;
      return (this.#isIn(name) || this.#isIn(agentId)) && !this.#dead.has(name);
    });
    return new OpenAudience(speakerId, others);
  }

  #isIn(name: string): boolean {
    return this.#living === null || this.#living.has(name);
  }
}
