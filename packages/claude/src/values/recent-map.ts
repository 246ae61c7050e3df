/**
 * The latest entries of a map that would grow without end: the latest `most` for certain, never more than twice as many.
 * A map that drops its oldest entry for each new one gets slow; this one drops half of them now and then.
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
