import type { SeenRecords } from './seen-records.ts';

const mostWaiting = 1_000;

/** How many lines before its parent or its call a record may be: Claude Code writes records out of order. */
export const usualDistance = 20;

interface Waiting {
  readonly line: number;
  readonly report: (isAhead: boolean) => void;
}

/** Finds records whose parent comes much later or is missing. Keeps at most a thousand records without a parent. */
export class ParentCheck {
  readonly #records: SeenRecords;
  readonly #waiting = new Map<string, Waiting>();

  constructor(records: SeenRecords) {
    this.#records = records;
  }

  /** Calls `report` once if the parent is unknown: when it arrives, or when the record is dropped or the file ends. */
  check(parentUuid: string, line: number, report: (isAhead: boolean) => void): void {
    if (this.#records.has(parentUuid)) return;
    const before = this.#waiting.get(parentUuid);
    if (before !== undefined) {
      report(false);
      return;
    }
    this.#waiting.set(parentUuid, { line, report });
    if (this.#waiting.size <= mostWaiting) return;
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.#waiting.delete(oldest[0]);
    oldest[1].report(false);
  }

  arrived(uuid: string, line: number): void {
    const waiting = this.#waiting.size === 0 ? undefined : this.#waiting.get(uuid);
    if (waiting === undefined) return;
    this.#waiting.delete(uuid);
    if (line - waiting.line > usualDistance) waiting.report(true);
  }

  end(): void {
    for (const { report } of this.#waiting.values()) report(false);
    this.#waiting.clear();
  }
}
