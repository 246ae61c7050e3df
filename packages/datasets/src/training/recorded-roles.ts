import type { CapturedEvent } from '@hansard/events';
import { matchesEventType } from '@hansard/events/plain';
import type { GameMapping } from '../game-streams/game-mapping.ts';

/** Without a mapping: events of a game that state a `player` and its `role`, or `roles` by player. */
const usual = { events: ['game:*'], player: 'player', role: 'role', players: 'roles' };

/** The roles of players as far as the events of the game have stated them. Nothing is assumed about a player before that. */
export class RecordedRoles {
  readonly #rule: NonNullable<GameMapping['roles']>;
  readonly #roles = new Map<string, string>();

  constructor(mapping: GameMapping | undefined) {
    this.#rule = mapping?.roles ?? usual;
  }

  add({ type, data }: CapturedEvent): void {
    const { events, player, role, players } = this.#rule;
    if (!events.some((pattern) => matchesEventType(pattern, type))) return;
    this.#learn(data[player], data[role]);
    const byPlayer = players === undefined ? undefined : data[players];
    if (typeof byPlayer !== 'object' || byPlayer === null || Array.isArray(byPlayer)) return;
    for (const [name, given] of Object.entries(byPlayer)) this.#learn(name, given);
  }

  /** By the name or else the id of an agent. */
  of(name: string, agentId: string): string | undefined {
    return this.#roles.get(name) ?? this.#roles.get(agentId);
  }

  #learn(player: unknown, role: unknown): void {
    if (typeof player === 'string' && typeof role === 'string') this.#roles.set(player, role);
  }
}
