/** The part of a log that a lens was made from. */
export interface LensPart {
  /** The title of the dispatch, or its role. */
  readonly title: string;
  /** The position of the first event that was read. Above 0, earlier ones were left out. */
  readonly first: number;
  /** How many events the log had. */
  readonly end: number;
  /** What a reader must know of the rows. */
  readonly notes: readonly string[];
}

export interface LensAgent {
  readonly id: string;
  readonly name: string;
}

interface LensRow {
  readonly position: number;
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
  readonly text: string;
  /** The text is longer: the event has it whole. */
  readonly isCut: boolean;
}

/** A text that an agent received, or did not, because a hook withheld it. */
export interface DialogHearing extends LensAgent {
  readonly how: 'same' | 'wrapped' | 'altered' | 'withheld';
  readonly position: number;
  /** What it received, where that was altered. */
  readonly text: string | null;
}

export interface DialogLine extends LensRow {
  readonly speaker: string;
  /** Null: not an agent. */
  readonly speakerId: string | null;
  readonly heard: readonly DialogHearing[];
  /** Who was present and did not hear it, in words; null: nobody, or it is not known. */
  readonly notHeardBy: string | null;
}

/** What was said, in order: the last lines before `before`. */
export interface DialogAnswer extends LensPart {
  readonly agents: readonly LensAgent[];
  readonly lines: readonly DialogLine[];
  /** How many lines come before these. */
  readonly earlier: number;
}

export interface PerspectiveLine extends LensRow {
  readonly kind: 'heard' | 'thought' | 'did' | 'received' | 'observed' | 'summary' | 'said';
  /** Whom it came from, how it was changed, and the tool, in words. */
  readonly about: string;
}

/** What one agent was given, thought, did and said, in the order in which its model was given it. */
export interface PerspectiveAnswer extends LensPart {
  readonly agents: readonly LensAgent[];
  readonly agentId: string;
  readonly lines: readonly PerspectiveLine[];
  readonly earlier: number;
}

export interface HeardLine extends LensRow {
  readonly speaker: string;
  readonly speakerId: string | null;
  /** How each agent of the answer heard it, in words; `·`: never; `?`: not known. */
  readonly cells: readonly string[];
}

/** Who heard what: a line for each thing that was said, a cell for each agent. */
export interface HeardAnswer extends LensPart {
  readonly agents: readonly LensAgent[];
  readonly lines: readonly HeardLine[];
  readonly earlier: number;
}

/** A dispatch in the tree of a task. Figures that are not known are null; costs are in words, with estimates marked. */
export interface TreeLine {
  readonly dispatchId: string;
  readonly depth: number;
  readonly name: string;
  readonly status: 'running' | 'completed' | 'aborted' | 'crashed';
  readonly model: string | null;
  readonly startedAt: string;
  readonly turns: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: string | null;
  /** With all dispatches below it. */
  readonly subtreeCost: string | null;
  readonly durationMs: number | null;
  /** Its parent is not among the dispatches of the task. */
  readonly isOrphan: boolean;
}

export interface TreeAnswer {
  readonly lines: readonly TreeLine[];
  /** There are more dispatches than these, the newest. */
  readonly isCut: boolean;
  /** How estimated costs were made. */
  readonly note: string | null;
}
