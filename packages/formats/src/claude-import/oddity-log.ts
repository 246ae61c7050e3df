import type { FormatOddity, FormatOddityCode } from '../format-report.ts';

/** How often each oddity was found. */
export type OddityCounts = Partial<Record<FormatOddityCode, number>>;

const keptOfEach = 20;

/** What was odd, by code: all are counted, and of each code the first 20 of a file are kept. */
export class OddityLog {
  readonly counts: OddityCounts = {};
  readonly #kept: FormatOddity[] = [];
  readonly #keptOf = new Map<string, number>();

  add(code: FormatOddityCode, file: string, line: number, message: string): void {
    this.counts[code] = (this.counts[code] ?? 0) + 1;
    const key = `${code} ${file}`;
    const kept = this.#keptOf.get(key) ?? 0;
    if (kept === keptOfEach) return;
    this.#keptOf.set(key, kept + 1);
    this.#kept.push({ code, file, line, message });
  }

  get kept(): readonly FormatOddity[] {
    return this.#kept;
  }
}
