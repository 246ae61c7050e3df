/** A part of a text that was found. */
interface HitPart {
  readonly text: string;
  /** Whether it is a word of the query. */
  readonly isWord: boolean;
}

/** An event that was found. */
export interface SearchedEvent {
  readonly position: number;
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
  /** The agent's name as far as the beginning of the log has it; '' for the dispatched agent. */
  readonly agent: string;
  /** The kind of the event in a word. */
  readonly word: string;
  /** Its text around the first word of the query. */
  readonly parts: readonly HitPart[];
}

/** The events of one dispatch that were found, by position. */
export interface SearchedDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The title of the dispatch, or its role. */
  readonly title: string;
  readonly startedAt: string | null;
  readonly hits: readonly SearchedEvent[];
}

/** The end of a search. */
export interface SearchEnd {
  /** There can be more than was found. */
  readonly isCut: boolean;
  /** Of the dispatches that could not be searched. */
  readonly problems: readonly string[];
}
