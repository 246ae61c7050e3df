import type { Diagnostic } from '@hansard/events';

/** Something unusual in a transcript or a stream. The data itself is always kept. */
export type ClaudeDiagnosticCode =
  | 'byte_order_mark'
  | 'call_answered_twice'
  | 'call_missing'
  | 'crlf'
  | 'empty'
  | 'id_missing'
  | 'id_repeated'
  | 'id_taken'
  | 'joined_lines'
  | 'lone_surrogate'
  | 'no_conversation'
  | 'no_result'
  | 'not_an_object'
  | 'not_json'
  | 'not_mapped'
  | 'not_utf8'
  | 'nul_bytes'
  | 'reference_ahead'
  | 'reference_cycle'
  | 'reference_missing'
  | 'session_changed'
  | 'several_records'
  | 'sidecar_not_read'
  | 'time_goes_back'
  | 'time_missing'
  | 'too_long'
  | 'unfinished'
  | 'unknown_kind'
  | 'usage_again'
  | 'usage_unreadable'
  | 'wrong_value';

export interface ClaudeDiagnostic extends Diagnostic<ClaudeDiagnosticCode> {
  readonly file: string;
  readonly line: number;
}

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
