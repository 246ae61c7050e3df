import type { CapturedEvent } from '@hansard/events';

/** Something that a thread of the program sends to an agent. Times are counted in steps of the play. */
export interface Sent {
  readonly agentId: string;
  /** As the agent receives it. */
  readonly text: string;
  /** The utterance that it carries; null: it is new. */
  readonly utterance: string | null;
  readonly startedAt: number;
  /** When it was in the log for certain; null: the session closed before that was known. */
  recordedAt: number | null;
}

/** One call of a model. */
export interface Called {
  readonly agentId: string;
  /** The log records it as the input tokens of the answer. */
  readonly number: number;
  /** Messages that were recorded before this must be in the prompt. */
  readonly askedAt: number;
  /** Messages that were sent after this cannot be in the prompt. */
  readonly calledAt: number;
  /** `role: text`. */
  readonly prompt: readonly string[];
}

/** What a thread read of an agent. */
export interface ReadTranscript {
  readonly agentId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly lines: readonly string[];
}

export interface ConcurrentlyPlayed {
  readonly agentIds: readonly string[];
  /** The log, as its store has it at the end. */
  readonly events: readonly CapturedEvent[];
  readonly sent: readonly Sent[];
  readonly called: readonly Called[];
  readonly read: readonly ReadTranscript[];
  /** By agent: whether it awaits a response after the session was loaded for the last time. */
  readonly awaiting: ReadonlyMap<string, boolean>;
  readonly happened: {
    loads: number;
    evictions: number;
    /** Calls that a closing session refused or ended. */
    closed: number;
    /** Messages that were sent to an agent while its model was called. */
    duringCalls: number;
  };
}
