/** The players that take part in a match, according to its messages so far. */
export interface MatchCompany {
  /** All players; null if the match names none. */
  readonly first: readonly string[] | null;
  /** Takes a message. Returns the players that take part from then on, if they changed. */
  hear(from: string, to: readonly string[]): readonly string[] | null;
}

/**
 * The wolves are always fewer than half of the living players, or the match is over. So a message that reaches more than
 * half of the players that take part is said to all of them, and a player that it does not reach has died. An agent that
 * speaks takes part.
 */
export function createMatchCompany(players: readonly string[]): MatchCompany {
  let living: readonly string[] = players;
  return {
    first: players.length === 0 ? null : players,

    hear(from, to) {
      const present = players.filter((name) => living.includes(name) || name === from);
      const reached = present.filter((name) => name === from || to.includes(name));
      const now = reached.length * 2 > present.length ? reached : present;
      const isAsBefore = now.length === living.length && now.every((name) => living.includes(name));
      living = now;
      return isAsBefore ? null : now;
    },
  };
}
