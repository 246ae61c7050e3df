export type Role = 'wolf' | 'seer' | 'villager';

/** A move that the rules don't allow, in words for the player who made it. */
export class IllegalMove extends Error {}

/** The rules: who lives, and what may be done when. It knows nothing of agents or logs. */
export class Village {
  readonly roles: ReadonlyMap<string, Role>;
  readonly living: Set<string>;
  turn = 'Game Start';
  phase: 'night' | 'day' | 'vote' | null = null;
  readonly votes = new Map<string, string>();
  #prey: string | null = null;

  constructor(roles: ReadonlyMap<string, Role>) {
    this.roles = roles;
    this.living = new Set(roles.keys());
  }

  get winner(): 'Town' | 'Wolves' | null {
    const wolves = [...this.living].filter((name) => this.roles.get(name) === 'wolf').length;
    if (wolves === 0) return 'Town';
    return wolves * 2 >= this.living.size ? 'Wolves' : null;
  }

  /** What the player learns from it. */
  useAbility(player: string, target: string): string {
    this.assertPhase('night');
    this.assertLiving(target);
    const role = this.roles.get(player);
    if (role === 'villager') throw new IllegalMove('You have no ability.');
    if (role === 'seer') return `${target} is ${this.roles.get(target) === 'wolf' ? 'the wolf' : 'no wolf'}.`;
    this.#prey = target;
    return `You visit ${target} tonight.`;
  }

  vote(player: string, target: string): void {
    this.assertPhase('vote');
    this.assertLiving(target);
    this.votes.set(player, target);
  }

  /** Who dies of this night. */
  endNight(): string | null {
    const prey = this.#prey;
    this.#prey = null;
    return this.#kill(prey);
  }

  /** Who is hanged: whom more than half of the living voted for. */
  endVote(): string | null {
    const counts = Map.groupBy(this.votes.values(), (target) => target);
    const hanged = [...counts].find(([, votes]) => votes.length * 2 > this.living.size)?.[0] ?? null;
    this.votes.clear();
    return this.#kill(hanged);
  }

  assertLiving(target: string): void {
    if (!this.living.has(target)) throw new IllegalMove(`${target} is not among the living: choose another.`);
  }

  assertPhase(phase: Village['phase']): void {
    if (this.phase !== phase) throw new IllegalMove(`Not now: that can be done in a ${phase} phase only.`);
  }

  #kill(name: string | null): string | null {
    if (name !== null) this.living.delete(name);
    return name;
  }
}
