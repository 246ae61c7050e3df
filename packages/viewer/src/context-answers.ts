/** What the model was given in a call. */
export interface ContextAnswer {
  /** The title of the dispatch, or its role. */
  readonly title: string;
  /** The position of the model call. */
  readonly call: number;
  readonly eventId: string;
  readonly agent: string;
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
  readonly verification: {
    /** Whether it was rendered to the recorded hash; null: there is nothing to compare with. */
    readonly isSame: boolean | null;
    readonly text: string;
  };
  /** What a reader must know of the messages. */
  readonly notes: readonly string[];
  /** Its description as lines of text; '': it is unknown. */
  readonly manifest: string;
  /** How many messages it has. */
  readonly count: number;
  /** The number of the first message that the call before it did not have; null: it is not recorded. */
  readonly newFrom: number | null;
  readonly lines: readonly ContextLine[];
  /** How many messages come before these. */
  readonly earlier: number;
  /** The position of the agent's call before this one; null: there is none. */
  readonly previous: number | null;
  /** The position of the agent's next call; null: there is none near this one. */
  readonly next: number | null;
}

export interface ContextLine {
  readonly number: number;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly head: string;
  readonly text: string;
  /** The text is longer. */
  readonly isCut: boolean;
}

/** The text of a message, whole. */
export interface ContextText {
  readonly text: string;
}
