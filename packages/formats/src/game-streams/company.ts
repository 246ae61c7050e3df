import { type CapturedEvent, isEventOf } from '@hansard/events';
import type { GameMapping } from './game-mapping.ts';
import { rosterNewsOf } from './roster.ts';

/**
 * The agents that can receive an utterance now: every present agent or, if events of the game name its players, those
 * that still take part.
 */
export class Company {
  readonly #mapping: GameMapping;
  /** The names of the present agents, by id. */
  readonly #names = new Map<string, string>();
  readonly #dead = new Set<string>();
  /** Null if no event of the game has named the players. */
  #living: Set<string> | null = null;

  constructor(mapping: GameMapping) {
    this.#mapping = mapping;
  }

  observe(event: CapturedEvent): void {
    const { agentId = '', type } = event;
    if (isEventOf(event, 'agent:terminated')) this.#names.delete(agentId);
    else if (isEventOf(event, 'agent:created')) this.#names.set(agentId, event.data.name ?? agentId);
    else if ((type.startsWith('agent:') || type === 'user:message') && !this.#names.has(agentId))
      this.#names.set(agentId, agentId);
    const news = rosterNewsOf(this.#mapping, event);
    if (news === null) return;
    if (news.living !== null) this.#living = new Set(news.living);
    else if (this.#living === null && news.players.length > 0) this.#living = new Set(news.players);
    if (news.died === null) return;
    this.#dead.add(news.died);
    this.#living?.delete(news.died);
  }

  /** The ids of all but the speaker. */
  others(speakerId: string): string[] {
    return [...this.#names].flatMap(([agentId, name]) =>
      agentId !== speakerId && (this.#isIn(name) || this.#isIn(agentId)) && !this.#dead.has(name)
        ? [agentId]
        : [],
    );
  }

  #isIn(name: string): boolean {
    return this.#living === null || this.#living.has(name);
  }
}
