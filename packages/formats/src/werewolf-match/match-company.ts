/** Who takes part in a match, as far as its messages show so far. */
export interface MatchCompany {
  /** All players; null: the match names none. */
  readonly first: readonly string[] | null;
  /** Takes a message, and gives who takes part from it on, where that is not as before. */
  hear(from: string, to: readonly string[]): readonly string[] | null;
}

/**
 * The wolves are always fewer than half of those who live, or the match is over. So what reaches more than half of those
 * who take part is said to all of them, and an agent that it does not reach has died; an agent that speaks takes part.
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
