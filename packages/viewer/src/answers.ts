import type { RowKind, Tone } from '@hansard/views';

/** A row as one line of the reader. Its texts are harmless and cut: the page never gets more than it shows. */
export interface ReaderRow {
  readonly position: number;
  readonly kind: RowKind;
  readonly word: string;
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
  readonly agentId: string;
  /** The agent's name as far as the window shows it. */
  readonly agent: string;
  readonly head: string;
  readonly text: string;
  /** What came back from a call; null: nothing yet, or not a call. */
  readonly outcome: string | null;
  readonly notes: string;
  readonly tone: Tone;
  readonly isFailed: boolean;
  readonly status: string | null;
  readonly durationMs: number | null;
}

/** The rows that events up to `end` began or completed. */
export interface LiveRows {
  readonly rows: readonly ReaderRow[];
  /** The position of the last event. */
  readonly end: number;
}

export interface NamedAgent {
  readonly id: string;
  readonly name: string;
  readonly hasEnded: boolean;
}
