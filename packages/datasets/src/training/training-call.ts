import type { TrainedAnswer } from './answer-block.ts';
import type { Prompt } from './prompt-renderer.ts';

/** Who was called, when, and how well its prompt is known. */
export interface CallFacts {
  readonly dispatchId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly agentRole: string;
  readonly turn: string;
  readonly model: string | null;
  /** The first event of the answer. */
  readonly eventId: string;
  /** Whether the prompt was rendered as its recorded manifest says, to the same hash; else in full, as none is recorded. */
  readonly isRecorded: boolean;
  /** Whether the prompt shows less than there was: it was faded, cut or compacted. */
  readonly isShortened: boolean;
}

/** One model call of an agent: exactly what the model was given, and what it answered. */
export interface TrainingCall extends CallFacts {
  readonly prompt: Prompt;
  readonly answer: TrainedAnswer;
  /** Whether the prompt begins with the prompt and the answer of the agent's call before. */
  readonly continues: boolean;
}

/** Why a call is in no row. */
export const dropReasons = [
  /** The agent called a tool, and the log holds no result. */
  'dangling_call',
  /** What was recorded of the prompt can't be read, or the prompt rendered again is another one. */
  'not_reproducible',
  /** The answer holds nothing. */
  'empty_answer',
  /** The model was asked for nothing: no message stands before the answer. */
  'empty_prompt',
  /** The log says that the answer carries on what was said elsewhere (`substance`). */
  'not_own_text',
  /** Another answer of the agent stands within this one: nobody knows what it was given. */
  'split_answer',
  /** The prompt holds earlier answers, which would be trained a second time: the format can't leave them out. */
  'trained_twice',
  /** ShareGPT takes turns, and people's and agents' don't here, or there is text beside a tool call. */
  'no_turns',
] as const;

export type DropReason = (typeof dropReasons)[number];

export interface DroppedCall {
  readonly dispatchId: string;
  readonly eventId: string;
  readonly reason: DropReason;
}

export type CallOrDropped =
  | { readonly kind: 'call'; readonly call: TrainingCall }
  | { readonly kind: 'dropped'; readonly dropped: DroppedCall };
