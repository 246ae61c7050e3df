import type { CapturedEvent } from '@hansard/events';
import { OpenAudience, PresentAgents } from '@hansard/views';
import { type Cast, foldedName, type RosterEntry, type RosterNews, rosterNewsOf } from './cast.ts';
import type { GameMapping } from './game-mapping.ts';

/**
 * The agents that must receive an utterance before it is public:
 *
 * 1. Events of the game name the players, and each of them is an agent: the players that still take part.
 * 2. They name the players, but not all of them are agents: every agent of the log, since any of them can be a player.
 * 3. They do not name the players: every agent that is present, and every agent whose creation the log does not record.
 *
 * In 2 and 3 without agents that do not play according to the mapping, and without those that have died. If this leaves nobody,
 * every agent of the log. Agents that have ended are left out.
 */
export class Company {
  readonly #mapping: GameMapping;
  readonly #cast: Cast;
  readonly #present = new PresentAgents();
  /** The ids of the agents that have come. */
  readonly #known = new Set<string>();
  /** Null if no event of the game has named the players. */
  #living: readonly RosterEntry[] | null = null;
  #dead: readonly RosterEntry[] = [];
  /** Every player that a list has named, by its words. */
  readonly #listed = new Map<string, RosterEntry>();

  constructor(mapping: GameMapping, cast: Cast) {
    this.#mapping = mapping;
    this.#cast = cast;
  }

  /** The players in lists of the game that match no agent. */
  get unmatched(): readonly string[] {
    return [...this.#listed.values()]
      .filter((entry) => this.#cast.of(entry).length === 0)
      .map(({ text }) => text);
  }

  observe(event: CapturedEvent): void {
    const { agentId = '' } = event;
    // The log can have grown since its cast was read.
    this.#cast.observe(event);
    this.#present.observe(event);
    if (this.#present.has(agentId)) this.#known.add(agentId);
    const news = rosterNewsOf(this.#mapping, event);
    if (news !== null) this.#learn(news);
  }

  /** The audience of what an agent says now. */
  audience(speakerId: string): GameAudience {
    return new GameAudience(speakerId, this.#beside(speakerId));
  }

  #learn({ players, living, died, isStart }: RosterNews): void {
    if (isStart && players.length > 0) this.#dead = [];
    if (living !== null) this.#living = living;
    else if (players.length > 0 && (this.#living === null || isStart)) this.#living = players;
    for (const entry of this.#living ?? []) this.#listed.set(entry.text, entry);
    if (died === null) return;
    this.#dead = [...this.#dead, died];
    // If several agents have the name, it is not known which of them has died.
    const named = this.#cast.of(died).filter((agentId) => this.#present.has(agentId));
    if (this.#living !== null && named.length < 2) this.#living = without(this.#living, died);
  }

  #beside(speakerId: string): string[] {
    const others = this.#cast.members.filter(
      ({ agentId }) => agentId !== speakerId && (this.#present.has(agentId) || !this.#known.has(agentId)),
    );
    const living = this.#living;
    const players = living === null ? null : this.#cast.ofAll(living);
    const listed = new Set((living ?? []).flatMap((entry) => this.#cast.of(entry)));
    const died = new Set(
      // If several agents have the name, it is not known which of them has died.
      this.#dead
        .map((entry) => this.#cast.of(entry))
        .flatMap((agentIds) => (agentIds.length === 1 ? agentIds : [])),
    );
    const taking = others.filter((member) => {
      const { agentId, isCreated } = member;
      if (players !== null) return players.has(agentId);
      if (listed.has(agentId)) return true;
      if (died.has(agentId) || this.#cast.isHost(member)) return false;
      return living !== null || this.#known.has(agentId) || !isCreated;
    });
    return (taking.length > 0 ? taking : others).map(({ agentId }) => agentId);
  }
}

/** The entries without the one of a name; all of them if it is not clear which one that is. */
function without(entries: readonly RosterEntry[], { names }: RosterEntry): readonly RosterEntry[] {
  const named = (as: (name: string) => string) => {
    const wanted = new Set(names.map(as));
    return entries.filter((entry) => entry.names.some((name) => wanted.has(as(name))));
  };
  const exact = named((name) => name);
  const gone = exact.length > 0 ? exact : named(foldedName);
  return exact.length > 0 || gone.length === 1 ? entries.filter((entry) => !gone.includes(entry)) : entries;
}

/** The audience of a text in a game while its deliveries arrive. Public is only what the log shows to be public. */
export class GameAudience extends OpenAudience {
  readonly #isAlone: boolean;

  /** `others`: the ids of the agents that must receive the text. */
  constructor(speakerId: string, others: readonly string[]) {
    super(speakerId, others);
    this.#isAlone = others.length === 0;
  }

  /** Whether there are others, and all of them have received the text. */
  override get isPublic(): boolean {
    return !this.#isAlone && super.isPublic;
  }
}
