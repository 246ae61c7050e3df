/** What can be odd about a log that was read. All of it is kept. */
export type FormatOddityCode =
  | 'not_utf8'
  | 'not_json'
  | 'not_an_object'
  | 'unknown_kind'
  | 'other_dialect'
  | 'wrong_value'
  | 'id_missing'
  | 'id_taken'
  | 'id_replaced'
  | 'reference_missing'
  | 'reference_ahead'
  | 'substance_and_cause'
  | 'call_missing'
  | 'call_answered_twice'
  | 'agent_missing'
  | 'agent_id_replaced'
  | 'agent_not_created'
  | 'agent_created_twice'
  | 'name_taken'
  | 'game_without_start'
  | 'game_without_end'
  | 'recipient_missing'
  | 'time_missing'
  | 'time_goes_back'
  | 'byte_order_mark'
  | 'crlf'
  | 'empty'
  | 'id_repeated'
  | 'joined_lines'
  | 'lone_surrogate'
  | 'no_conversation'
  | 'no_result'
  | 'nul_bytes'
  | 'session_changed'
  | 'several_records'
  | 'too_long'
  | 'unfinished'
  | 'usage_again'
  | 'usage_open';

export interface FormatOddity {
  readonly code: FormatOddityCode;
  readonly file?: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What was read, and what was odd about it, by line. */
export interface FormatReport {
  readonly records: number;
  readonly oddities: readonly FormatOddity[];
}
