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
  | 'agent_missing'
  | 'agent_id_replaced'
  | 'agent_not_created'
  | 'agent_created_twice'
  | 'name_taken';

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
