import type { Diagnostic, SourceBalance } from '@hansard/events';

/** Something unusual in a session log or a recorded game. The data itself is always kept. */
export type FormatDiagnosticCode =
  | 'agent_created_twice'
  | 'agent_id_replaced'
  | 'agent_missing'
  | 'agent_not_created'
  | 'call_missing'
  | 'game_without_end'
  | 'game_without_start'
  | 'id_missing'
  | 'id_replaced'
  | 'id_taken'
  | 'name_taken'
  | 'not_an_object'
  | 'not_json'
  | 'not_mapped'
  | 'not_utf8'
  | 'other_dialect'
  | 'recipient_missing'
  | 'reference_ahead'
  | 'reference_missing'
  | 'reference_not_exact'
  | 'streams_differ'
  | 'substance_and_cause'
  | 'time_goes_back'
  | 'time_missing'
  | 'unfinished'
  | 'unknown_kind'
  | 'wrong_value';

export interface FormatDiagnostic extends Diagnostic<FormatDiagnosticCode> {
  readonly line: number;
}

/** The number of records read, the diagnostics by line, and what happened to everything in the log. */
export interface FormatReport {
  readonly records: number;
  readonly balance: SourceBalance;
  readonly diagnostics: readonly FormatDiagnostic[];
}

/**
 * Something that a written session log does not hold. `field_not_written`: a value of a record; `record_not_written`: a
 * record of another dialect. `not_seen_by_loader`: the log says it, and the loader of smallchat reads something else.
 */
export interface WriteDiagnostic
  extends Diagnostic<'field_not_written' | 'record_not_written' | 'not_seen_by_loader'> {
  readonly eventId: string;
  /** The key of the value: of the written dialect or, if it does not have the key, of the other one. */
  readonly field?: string;
}
