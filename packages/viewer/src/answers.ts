import type { CapturedEvent, DispatchEnvelope } from '@hansard/events';
import type { RowKind, RowWords, Tone, WordsLine } from '@hansard/views';

/** How many events after its first one a row can change. Later results and deliveries are rows of their own. */
export const rowReach = 300;

/** A row as one line of the reader. Its texts are harmless and cut: the page never gets more than it shows. */
export interface ReaderRow extends WordsLine {
  readonly position: number;
  readonly kind: RowKind;
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
  readonly agentId: string;
  readonly tone: Tone;
  readonly isFailed: boolean;
}

/** The rows that events up to `end` began or completed. */
export interface LiveRows {
  readonly rows: readonly ReaderRow[];
  /** The position of the last event. */
  readonly end: number;
}

/** More of a text that an agent is writing. */
export interface WritingPiece {
  readonly key: number;
  /** Empty: the dispatched agent. */
  readonly agentId: string;
  readonly kind: 'text' | 'thinking';
  /** The characters of the text before this piece, and up to its end. A page that has another number before it begins with this piece. */
  readonly from: number;
  readonly end: number;
  readonly text: string;
}

/** A text that is shown until the row with this position is. Null: it is not in the log. */
export interface EndedWriting {
  readonly key: number;
  readonly position: number | null;
}

/** What can be done with a running dispatch. */
export interface RunControls {
  readonly messages: boolean;
  readonly abort: boolean;
}

/** What agents of a run are writing, as far as it changed since the last message. */
export interface WritingMessage {
  /** It has everything: the page forgets the rest. */
  readonly isFirst: boolean;
  /** Null: the dispatch does not run in the process of the viewer. */
  readonly controls: RunControls | null;
  readonly texts: readonly WritingPiece[];
  readonly ended: readonly EndedWriting[];
}

export interface NamedAgent {
  readonly id: string;
  readonly name: string;
  readonly hasEnded: boolean;
  /** Of the event that created it. */
  readonly position: number;
}

/** A dispatch above or below the one that is shown. */
export interface TreeEntry {
  readonly dispatchId: string;
  readonly depth: number;
  readonly name: string;
  readonly status: DispatchEnvelope['status'];
  /** In US dollars; null: not known. */
  readonly cost: number | null;
  /** With all dispatches below it; null: there are none, or it is not known. */
  readonly subtreeCost: number | null;
}

export type LinkKind = 'cause' | 'substance' | 'via';

/** A recorded link between two events. */
export interface EventLink {
  readonly kind: LinkKind;
  /** Null: it is not among the events that were read. */
  readonly position: number | null;
  readonly text: string;
}

export interface EventDetail {
  readonly position: number;
  /** Of its line. */
  readonly characters: number;
  /** Its texts are cut: its line has them whole. */
  readonly isCut: boolean;
  /** As recorded, except where it is cut. */
  readonly event: CapturedEvent;
  /** The event as indented JSON, harmless. */
  readonly json: string;
  /** The positions of the events of its row. */
  readonly events: readonly number[];
  /** The row that has the event, whole, in harmless words. */
  readonly words: RowWords | null;
  /** The model whose call the row came from. */
  readonly model: string | null;
  /** What the events of the row came from. */
  readonly causes: readonly EventLink[];
  /** What came from them. */
  readonly effects: readonly EventLink[];
}

/** What happened up to an event. */
export interface History {
  /** The position of the first event that it has. */
  readonly first: number;
  readonly text: string;
}

/** Rows that were found, in order. */
export interface FoundRows {
  readonly positions: readonly number[];
  /** How many events were read so far, from the beginning of the log. */
  readonly scanned: number;
}
