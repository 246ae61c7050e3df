import type { SeenRecords } from './seen-records.ts';

const mostWaiting = 1_000;

interface Waiting {
  readonly line: number;
  readonly tell: (isAhead: boolean) => void;
}

/** Finds records whose parent comes later, or never. Of those that wait for their parent, a thousand are remembered. */
export class ParentCheck {
  readonly #records: SeenRecords;
  readonly #waiting = new Map<string, Waiting>();

  constructor(records: SeenRecords) {
    this.#records = records;
  }

  /** `tell` is called once where the parent was not there: when it comes, or when nobody waits for it any more. */
  check(parentUuid: string, line: number, tell: (isAhead: boolean) => void): void {
    if (this.#records.has(parentUuid)) return;
    const before = this.#waiting.get(parentUuid);
    if (before !== undefined) {
      tell(false);
      return;
    }
    this.#waiting.set(parentUuid, { line, tell });
    if (this.#waiting.size <= mostWaiting) return;
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.#waiting.delete(oldest[0]);
    oldest[1].tell(false);
  }

  arrived(uuid: string): void {
    if (this.#waiting.size === 0) return;
    this.#waiting.get(uuid)?.tell(true);
    this.#waiting.delete(uuid);
  }

  end(): void {
    for (const { tell } of this.#waiting.values()) tell(false);
    this.#waiting.clear();
  }
}
