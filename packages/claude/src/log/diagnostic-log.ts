import type { ClaudeDiagnostic, ClaudeDiagnosticCode } from '../json-lines/claude-diagnostic.ts';

/** The number of diagnostics of each code. */
export type DiagnosticCounts = Partial<Record<ClaudeDiagnosticCode, number>>;

const keptOfEach = 20;

/** Collects diagnostics. All are counted; the first 20 of each code and file are kept. */
export class DiagnosticLog {
  readonly counts: DiagnosticCounts = {};
  readonly #kept: ClaudeDiagnostic[] = [];
  readonly #keptOf = new Map<string, number>();

  add(code: ClaudeDiagnosticCode, file: string, line: number, message: string): void {
    this.counts[code] = (this.counts[code] ?? 0) + 1;
    const key = `${code} ${file}`;
    const kept = this.#keptOf.get(key) ?? 0;
    if (kept === keptOfEach) return;
    this.#keptOf.set(key, kept + 1);
    this.#kept.push({ code, file, line, message });
  }

  get kept(): readonly ClaudeDiagnostic[] {
    return this.#kept;
  }
}
