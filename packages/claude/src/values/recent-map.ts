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
