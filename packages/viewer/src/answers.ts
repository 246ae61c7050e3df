import type { CapturedEvent, DispatchStatus } from '@hansard/events';
import type { RowKind, RowWords, SnippetPart, TalkWords, Tone, WordsLine } from '@hansard/views';

/** The types of images that the page shows. An SVG can hold scripts. */
export const shownImages: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** How many events after its first one a row can change. Later results and deliveries are rows of their own. */
export const rowReach = 300;

/** A session as one line of the library, in harmless words. */
export interface LibraryLine {
  readonly taskDir: string;
  /** Null: a task that cannot be read. */
  readonly dispatchId: string | null;
  /** Why it cannot be read. */
  readonly error?: string;
  /** Null: it cannot be read. */
  readonly facts: LibraryFacts | null;
}

export interface LibraryFacts {
  readonly title: string;
  /** The dispatch that started it. */
  readonly parent: string | null;
  readonly project: string;
  /** The product whose log was imported. Null: it was recorded here. */
  readonly product: string | null;
  /** The most used first. */
  readonly models: readonly string[];
  readonly status: DispatchStatus;
  readonly isImported: boolean;
  /** How many calls wait for a person. */
  readonly waiting: number;
  readonly startedAt: string | null;
  /** When it was last active, as far as that is recorded. */
  readonly activeAt: string | null;
  readonly durationMs: number | null;
  /** In words, as are costs: estimates are marked. Null: not known. */
  readonly tokens: string | null;
  /** To sort by; 0: not known. */
  readonly tokenCount: number;
  readonly cost: string | null;
  readonly costUsd: number;
}

/** What was used of one project, or of one model. */
export interface SpentShare {
  readonly name: string;
  readonly sessions: number;
  readonly tokens: number;
  /** US dollars, stated and estimated, for the length of a bar. */
  readonly costUsd: number;
  /** In words. Null: not known. */
  readonly cost: string | null;
}

export interface SpentDay extends Omit<SpentShare, 'name'> {
  /** `2026-03-01`. */
  readonly day: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** What the sessions used in the last days, without what is copied from other sessions. */
export interface StoreSpending {
  readonly days: readonly SpentDay[];
  readonly projects: readonly SpentShare[];
  readonly models: readonly SpentShare[];
  readonly cost: string | null;
  /** There are more sessions, older ones, which are not counted. */
  readonly isCut: boolean;
}

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

/** A row of a conversation. */
export interface ConversationItem extends ReaderRow {
  /** The row, whole: of what was said or received. Null: of others, which are shown folded. */
  readonly words: RowWords | null;
  /** The texts are cut: the event has them whole. */
  readonly isCut: boolean;
  /** The tool of a call. Null: it is none. */
  readonly tool: string | null;
  readonly durationMs: number | null;
  /** Whether it is a call that changes a file. */
  readonly isEdit: boolean;
  /** Whether a person wrote it. */
  readonly isPrompt: boolean;
}

/** The rows that begin at some positions. */
export interface ConversationPage {
  readonly first: number;
  readonly size: number;
  readonly items: readonly ConversationItem[];
}

/** A place in a session. */
export interface Mark {
  readonly position: number;
  readonly kind: 'prompt' | 'failure' | 'edit' | 'compaction' | 'person';
  readonly text: string;
}

/** Where in a session something is, for those events from `first` to `end`. */
export interface SessionMap {
  readonly first: number;
  readonly end: number;
  readonly marks: readonly Mark[];
  /** There are more marks, before these. */
  readonly isCut: boolean;
}

/** A mark of a person: `NewNote` of `@hansard/dispatch` says what it has. */
export interface PersonsMark {
  readonly id: string;
  /** Null: a saved filter. */
  readonly on: { readonly task: string; readonly id: string; readonly position: number | null } | null;
  readonly kind: 'note' | 'bookmark' | 'tag' | 'rating' | 'filter';
  readonly text: string;
  readonly rating: number;
  readonly address: string;
  readonly reader: string;
  readonly at: string | null;
}

export interface Marks {
  /** The name under which this page makes marks. Null: it makes none. */
  readonly reader: string | null;
  readonly marks: readonly PersonsMark[];
  /** Why marks of some readers are not among them. */
  readonly problems: readonly string[];
}

/** Something with a beginning and a duration. */
export interface Span {
  readonly position: number;
  readonly kind: 'call' | 'model' | 'prompt' | 'compaction';
  readonly agentId: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  /** Null: not recorded. */
  readonly durationMs: number | null;
  readonly text: string;
  readonly isFailed: boolean;
}

/** The calls of a tool. */
export interface ToolFigures {
  readonly name: string;
  readonly count: number;
  readonly failed: number;
  /** Of how many calls the duration is recorded. The others are in no duration. */
  readonly timed: number;
  /** Milliseconds, as are the others; null: none is recorded. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly totalMs: number;
}

/** When what happened, and what each call of a model used. */
export interface SessionTime {
  readonly first: number;
  readonly end: number;
  readonly agents: readonly LensAgent[];
  /** By their beginning. */
  readonly spans: readonly Span[];
  readonly calls: readonly {
    readonly position: number;
    readonly time: number | null;
    readonly inputTokens: number;
    readonly cachedTokens: number;
    readonly outputTokens: number;
    /** US dollars. Null: not recorded. */
    readonly costUsd: number | null;
  }[];
  readonly tools: readonly ToolFigures[];
  /** There are more spans or calls, before these. */
  readonly isCut: boolean;
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
  readonly status: DispatchStatus;
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

/** A line of a conversation, in harmless words. A longer text is cut and ends with `…`: the event has it whole. */
export interface TalkLine extends TalkWords {
  /** Milliseconds since 1970; null if it is not a time. */
  readonly time: number | null;
}

/** What was said, in order: the last lines before `before`. */
export interface DialogAnswer extends LensPart {
  readonly agents: readonly LensAgent[];
  readonly lines: readonly TalkLine[];
  /** How many lines come before these. */
  readonly earlier: number;
}

/** What one agent was given, thought, did and said, in the order in which its model was given it. */
export interface PerspectiveAnswer extends DialogAnswer {
  readonly agentId: string;
}

export interface HeardLine {
  readonly position: number;
  readonly text: string;
  /** The text is longer: the event has it whole. */
  readonly isCut: boolean;
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
  readonly status: DispatchStatus;
  readonly model: string | null;
  /** Null: not recorded. */
  readonly startedAt: string | null;
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
  /** What all of them cost. What several have, because one began with a copy of another, counts once. Null: not known. */
  readonly cost: string | null;
  /** Which dispatches are forks, what counts once, and how estimated costs were made. */
  readonly notes: readonly string[];
}

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
  readonly parts: readonly SnippetPart[];
}

/** The events of one dispatch that were found, by position. */
export interface SearchedDispatch {
  readonly taskDir: string;
  readonly dispatchId: string;
  /** The title of the dispatch, or its role. */
  readonly title: string;
  readonly project: string;
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
