import type { CapturedEvent } from '@hansard/events';
import type { JsonValue } from '@hansard/provider';
import type { PersonAnswer } from '@hansard/session';

/** Something that a thread of the program, or another process, sends to an agent. Times are counted in steps of the play. */
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
  /** The input tokens of the answer. The answer ends with it, such as `n12`. */
  readonly number: number;
  /** Messages that were recorded before this must be in the prompt. */
  readonly askedAt: number;
  /** Messages that were sent after this cannot be in the prompt. */
  readonly calledAt: number;
  /** `role: text`, and the digests of files. */
  readonly prompt: readonly string[];
  /** What a delta had said. */
  said: string;
  /** Its answer. Null: the call was over before. */
  reply: string | null;
  hasCalls: boolean;
  /** Whether hooks were asked about the answer. */
  isJudged: boolean;
}

/** What a thread read of an agent. */
export interface ReadTranscript {
  readonly agentId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly lines: readonly string[];
}

/** How a call that waits for a person was answered: several answers can be given, and the first in the log counts. */
export interface GivenAnswer extends PersonAnswer {
  readonly callId: string;
  /** Says which answer it is. */
  readonly note: string;
}

/** A tool that waits for a person was entered. */
export interface Entered {
  readonly toolCallId: string;
  readonly input: JsonValue;
}

/** What an agent was given in a fork. */
export interface Forked {
  readonly at: string;
  readonly agentId: string;
  readonly prompt: readonly string[];
}

export interface ConcurrentlyPlayed {
  readonly agentIds: readonly string[];
  /** The log, as its store has it at the end. */
  readonly events: readonly CapturedEvent[];
  readonly sent: readonly Sent[];
  readonly called: readonly Called[];
  readonly read: readonly ReadTranscript[];
  readonly given: readonly GivenAnswer[];
  readonly entered: readonly Entered[];
  readonly forked: readonly Forked[];
  /** What surfaces were shown. */
  readonly shown: string;
  /** By agent: whether it awaits a response after the session was loaded for the last time. */
  readonly awaiting: ReadonlyMap<string, boolean>;
  /** What was wrong while it was played. */
  readonly wrong: readonly string[];
  readonly happened: Happened;
}

export interface Happened {
  loads: number;
  kills: number;
  evictions: number;
  /** Calls that a closing session refused or ended. */
  closed: number;
  /** Messages that were sent to an agent while its model was called. */
  duringCalls: number;
  stops: number;
  rewinds: number;
  letters: number;
  denials: number;
  rejections: number;
  spent: number;
  answers: number;
  /** Answers from another process. */
  posted: number;
}

/** What hooks do to a text that says so: `yes (deny s12)`. */
export const flags = ['deny', 'retry', 'alter'] as const;

export function flagOf(text: string): (typeof flags)[number] | null {
  return flags.find((flag) => text.includes(`(${flag} `)) ?? null;
}

/** A text as hooks leave it. */
export function judged(text: string): string {
  return text.replace(/\(alter s(\d+)\)/, '(made $1)');
}
