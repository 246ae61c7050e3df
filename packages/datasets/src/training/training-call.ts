import type { CallRequest } from '@hansard/prompt';
import type { TrainedAnswer } from './inference-records.ts';
import type { Prompt } from './prompt-renderer.ts';

/** The agent and the time of a call, and how well its prompt is known. */
export interface CallFacts {
  readonly dispatchId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** From events of the game, or the role of the dispatch for its dispatched agent; '' if it is not recorded. */
  readonly agentRole: string;
  readonly turn: string;
  /** The status of the dispatch. */
  readonly outcome: string;
  readonly model: string | null;
  /** The first event of the answer. */
  readonly eventId: string;
  /** Whether the prompt was rendered by its recorded manifest, with the same hash. Otherwise it was rendered in full, without a record. */
  readonly isRecorded: boolean;
  /** Whether the prompt shows less than the transcript: it was faded, cut or compacted. */
  readonly isShortened: boolean;
  /** The tools that the model was given, as far as the log has them. */
  readonly tools: CallRequest['tools'];
}

/** One model call of an agent: its exact prompt and its answer. */
export interface TrainingCall extends CallFacts {
  readonly prompt: Prompt;
  readonly answer: TrainedAnswer;
  /** Whether the prompt begins with the prompt and the answer of the agent's previous call. */
  readonly continues: boolean;
}

/** The reason for which a call is left out. */
const dropReasons = [
  /** The agent called a tool, and the log ends without a result. */
  'dangling_call',
  /** The model was given an image or another file that its prompt in the log does not have, such as one that is only named by an address. */
  'unshown_file',
  /** A text of the prompt or the answer holds encoded bytes, such as an image in Base64. */
  'encoded_bytes',
  /** The record of the prompt can't be read, or rendering the prompt again gives a different one. */
  'not_reproducible',
  /** The answer is empty, or holds nothing but thoughts. */
  'empty_answer',
  /** There is no message before the answer. */
  'empty_prompt',
  /** The answer carries text of another event (`substance`). */
  'not_own_text',
  /** Another answer of the agent occurs within this one, so its prompt is not known. */
  'split_answer',
  /** The answer is copied from another dispatch of the export, of which this one is a fork or a continuation. */
  'copied',
  /** A rewind took the answer back, or a part of it. */
  'abandoned',
  /** It is on a branch beside the current one, such as the branch of a second program on the same session. */
  'parallel',
  /** The engine took the answer back, or a message that the prompt had. */
  'retracted',
  /** A hook rejected it before anybody received it, or its prompt has such an answer. */
  'rejected',
  /** Another row has the same prompt and the same answers. */
  'duplicate',
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
