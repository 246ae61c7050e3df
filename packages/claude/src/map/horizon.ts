/**
 * The limit of what a continued mapping knows. It has seen only the lines that may still matter of the part that was read
 * before. Where a record refers to something else, only a mapping of the whole log gives the right events.
 */
export class Horizon {
  /** Whether a part before was not mapped as a whole. */
  isSet = false;
  #lostAgents: ReadonlySet<string> = new Set();
  /** Whether a record referred to something beyond the horizon. */
  isCrossed = false;

  /** Everything from here on is new. `lostAgents` are agents of the part before whose lines were not seen again. */
  set(lostAgents: Iterable<string>): void {
    this.isSet = true;
    this.#lostAgents = new Set(lostAgents);
  }

  /** Notes that something was not found that the part before may have. */
  missed(): void {
    if (this.isSet) this.isCrossed = true;
  }

  /** Notes that a record refers to an agent. */
  refer(agentId: string | undefined): void {
    if (agentId !== undefined && this.#lostAgents.has(agentId)) this.isCrossed = true;
  }
}

/**
 * A bounded map. It keeps at least the latest `most` entries and never more than twice as many. Dropping the oldest entry
 * for each new one would be slow, so it drops half of the entries at once.
 */
export class RecentMap<T> {
  readonly #most: number;
  #newer = new Map<string, T>();
  #older = new Map<string, T>();

  constructor(most: number) {
    this.#most = most;
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  get(key: string): T | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: T): void {
    if (this.#newer.size === this.#most && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}
