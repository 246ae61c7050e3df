import type { SearchHit } from '@hansard/provider';

/** Keeps the newest hits of a search, in bounded memory. */
export class NewestHits {
  readonly #limit: number;
  #hits: SearchHit[] = [];
  /** '': that of an event without a time, which is older than all others. Null: there are fewer hits than wanted. */
  #oldest: string | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  copy(): NewestHits {
    const copy = new NewestHits(this.#limit);
    copy.#hits = [...this.#hits];
    copy.#oldest = this.#oldest;
    return copy;
  }

  /** Whether there are as many hits as wanted, so that older events are not among them. */
  get isFull(): boolean {
    return this.#oldest !== null;
  }

  /** Whether an event of this time can be among the newest hits. */
  canBe(timestamp: string | null): boolean {
    return this.#oldest === null || (timestamp ?? '') >= this.#oldest;
  }

  add(hit: SearchHit): void {
    this.#hits.push(hit);
    // Sorting at every addition would cost more than the search.
    if (this.#hits.length >= 2 * this.#limit + 100) this.#trim();
  }

  /** Newest last. */
  list(): SearchHit[] {
    this.#trim();
    return [...this.#hits];
  }

  #trim(): void {
    this.#hits = this.#hits.sort(compareHits).slice(-this.#limit);
    const [first] = this.#hits;
    if (first !== undefined && this.#hits.length === this.#limit) this.#oldest = first.event.timestamp ?? '';
  }
}

function compareHits(one: SearchHit, other: SearchHit): number {
  return (
    compare(one.event.timestamp ?? '', other.event.timestamp ?? '') ||
    compare(one.taskDir, other.taskDir) ||
    compare(one.dispatchId, other.dispatchId) ||
    one.position - other.position
  );
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
