import type { JsonValue, MediaPart, Usage } from '@hansard/events';
import type { HowHeard, Speaker } from '../log/saying.ts';
import type { DiffPart } from '../session/word-diff.ts';

/**
 * What happened, as people read it: one event, or several that belong together, such as a call, the decisions of hooks on it and its
 * result. Plain data. Every event of a dispatch is in exactly one row. Texts are as recorded, and whole: a renderer makes
 * them harmless and cuts them.
 */
export interface Row {
  /** The position of its first event. Names the row in its dispatch, and never changes. */
  readonly position: number;
  /** The id of its first event. */
  readonly id: string;
  /** The time of its first event. Null: not recorded. */
  readonly timestamp: string | null;
  readonly kind: RowKind;
  /** The kind in a word, as in an event line: `text`, `call`, `hook` … */
  readonly word: string;
  /** The agent whose transcript it is in. */
  readonly agent: RowAgent;
  /** One line about it: the tool and its target, the model, the hook. '' if there is none. */
  readonly head: string;
  /** What was said, asked or observed. */
  readonly content: readonly RowPart[];
  readonly tone: Tone;
  /** Whether it is a failure: a call with an error, a denial, an error of the harness. */
  readonly isFailed: boolean;
  /** The positions of all its events, the first one included, in ascending order. */
  readonly events: readonly number[];
  /** `completed`, `error`, `denied`, `open`, `no result on record` or `no result nearby` for a call. */
  readonly status?: string;
  readonly durationMs?: number;
  readonly call?: RowCall;
  /** The author of a message that an agent received. */
  readonly from?: RowSpeaker;
  /** The agents that received what was said, in order. */
  readonly heard?: readonly RowHearing[];
  /** The agents that could take part at that time and did not receive it. Only with `heard`. */
  readonly missing?: readonly RowAgent[];
  /** Those of which the log does not record whether they received it. Only if there are some. */
  readonly notKnown?: readonly RowAgent[];
  /** Decisions of hooks that are shown here. */
  readonly decisions?: readonly RowDecision[];
  /** The figures of the model call that it came from. */
  readonly model?: RowModel;
  /** The branch that it lies on, if that is not the current one of its agent. */
  readonly branch?: 'abandoned' | 'parallel';
  /** Whether an engine took it back. */
  readonly isRetracted?: boolean;
  /** The rows that it stands for. */
  readonly fold?: RowFold;
  /** The events of a run of harness noise, or the records of the engine about a call, in order. */
  readonly folded?: readonly {
    readonly position: number;
    readonly id: string;
    readonly timestamp: string | null;
    readonly type: string;
    /** What kind of record it is. */
    readonly word: string;
    readonly text: string;
  }[];
}

/**
 * `said`: an utterance. `aside`: text beside a tool call, which nobody else receives. `thought`, `message` (received), `call`.
 * `noise`: a run of records of the harness and its engine that most readers skip. `branch`: the rows of a branch that is not current. `copies`: the
 * rows that a fork repeats from its origin. `event`: anything else.
 */
export type RowKind =
  | 'said'
  | 'aside'
  | 'thought'
  | 'message'
  | 'call'
  | 'noise'
  | 'branch'
  | 'copies'
  | 'event';

/** Every kind of row. */
export const rowKinds: readonly RowKind[] = [
  'said',
  'aside',
  'thought',
  'message',
  'call',
  'noise',
  'branch',
  'copies',
  'event',
];

/** Rows that one row stands for. `events`: how many events they have. */
export type RowFold =
  | {
      readonly of: 'branch';
      readonly agentId: string;
      /** `abandoned`: a rewind left it. `parallel`: another program continued the transcript at another place. */
      readonly state: 'abandoned' | 'parallel';
      readonly prompts: number;
      readonly events: number;
      /** The position and the id of its last event. Both are addresses of the branch. */
      readonly end: number;
      readonly address: string;
    }
  | {
      readonly of: 'copies';
      /** The dispatch of the origin, or what its source calls it. */
      readonly origin: string;
      readonly events: number;
    };

/** The importance of a row to the reader. A surface gives each tone a colour. */
export type Tone = 'plain' | 'dim' | 'good' | 'bad' | 'notice';

export interface RowAgent {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  /** The name as far as earlier events give it, otherwise the id; '' for a dispatched agent without a name. */
  readonly name: string;
  /** Levels below the dispatched agent. */
  readonly depth: number;
}

export interface RowSpeaker {
  readonly kind: Speaker['kind'];
  /** The agent's name or id; '' if no agent wrote it. */
  readonly name: string;
  /** `user`, `agent`, `system`, `external`, or `external (file)` if the log says what sent it. */
  readonly label: string;
}

/** A tool call. Its input is the content of its row. */
export interface RowCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly target: string;
  /** What came back; null: nothing yet. Empty: nothing was recorded of it. */
  readonly outcome: readonly RowPart[] | null;
}

export interface RowHearing {
  readonly agent: RowAgent;
  readonly how: HowHeard;
  /** The delivery, or the decision that withheld it. */
  readonly position: number;
  /** The text that was received, if it is not the same. */
  readonly text?: string;
  /** The differences between the original and an altered text. */
  readonly differences?: readonly DiffPart[];
}

export interface RowDecision {
  readonly position: number;
  readonly hook: string;
  readonly on: string;
  readonly decision: 'allow' | 'deny' | 'alter' | 'retry';
  readonly reason: string;
  /** The agent that made the call, or would receive the delivery or the result. */
  readonly agent: RowAgent;
  /** What was decided on, as recorded with the decision. Absent: what the row says or calls. */
  readonly given?: string;
  /** What an agent said, by which the hook decided. */
  readonly verdict?: RowText;
  /** The new input or text of an alteration. */
  readonly content: readonly RowPart[];
  /** The message that the agent received in the place of the denied one. The result of a denied call is its outcome. */
  readonly instead?: RowText;
}

/** What an agent said or received, in another row. */
export interface RowText {
  readonly position: number;
  readonly agent: RowAgent;
  readonly text: string;
}

export interface RowModel {
  readonly name: string;
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly durationMs?: number;
}

/** A piece of content. */
export type RowPart =
  | {
      readonly kind: 'text';
      readonly label?: string;
      readonly text: string;
      /** `markdown`: written as prose by a model or a person. `code`: a command, a file, a query. `plain`: anything else. */
      readonly style: 'plain' | 'markdown' | 'code';
    }
  | { readonly kind: 'diff'; readonly label?: string; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'json'; readonly label?: string; readonly value: JsonValue }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'media';
      readonly media: MediaPart;
      /** Whether a user had its bytes removed from the log. */
      readonly isRemoved?: true;
    };

/** A line of an edit, without its line break. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}
