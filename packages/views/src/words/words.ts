import type { MediaPart } from '@hansard/events';
import type { DiffLine, RowKind, Tone } from '../rows/row.ts';
import type { DiffPart } from '../session/word-diff.ts';

/**
 * What a span says. `agent`: in whose transcript it happened. `word`: the kind in a word, such as `call`. `head`: the tool and its target, the
 * author of a message, the model. `mark`: that it is on no current branch, or was retracted. `status`, `duration`, `figure`: how it went, how long it took, what it cost. `text`: anything else.
 */
export type SpanLabel = 'agent' | 'word' | 'head' | 'mark' | 'status' | 'duration' | 'figure' | 'text';

/** A piece of a line. */
export interface WordSpan {
  readonly label: SpanLabel;
  readonly text: string;
  /** The event that it is about. */
  readonly position?: number;
}

/** Where the words of a block come from: what was said, asked or observed; what came back; what a hook did; who heard it; records. */
export type WordSource = 'content' | 'outcome' | 'hook' | 'hearing' | 'records';

interface FromSource {
  readonly source: WordSource;
  /** What the block is, in words. */
  readonly label?: string | undefined;
}

interface TextBlock extends FromSource {
  readonly kind: 'text';
  readonly text: string;
  /** Whether it was written as prose by a model or a person, often in Markdown. */
  readonly isProse: boolean;
}

interface CodeBlock extends FromSource {
  readonly kind: 'code';
  readonly text: string;
  /** What a surface of one line shows instead. Absent: the text. */
  readonly inLine?: string;
}

interface DiffBlock extends FromSource {
  readonly kind: 'diff';
  readonly lines: readonly DiffLine[];
  readonly inLine: string;
}

interface TableBlock extends FromSource {
  readonly kind: 'table';
  readonly rows: readonly (readonly [name: string, value: string])[];
}

/** An image, a document or a sound. Its bytes are in the log, and not here. */
interface MediaBlock extends FromSource {
  readonly kind: 'media';
  readonly media: MediaPart;
  /** Whether a user had its bytes removed from the log. */
  readonly isRemoved?: true;
  /** What a surface shows that cannot show the bytes. */
  readonly text: string;
}

/** A line about what happened: what a hook did, who heard it. */
export interface NoteBlock extends FromSource {
  readonly kind: 'note';
  readonly spans: readonly WordSpan[];
  readonly tone: Tone;
}

/** A text that an agent received in other words. */
interface ChangedBlock extends FromSource {
  readonly kind: 'changed';
  readonly text: string;
  /** How it differs from what was said. */
  readonly parts: readonly DiffPart[];
}

/** Records of a harness or its engine. A surface of one line shows how many there are. */
interface RecordsBlock extends FromSource {
  readonly kind: 'records';
  readonly summary: string;
  readonly records: readonly {
    readonly position: number;
    readonly timestamp: string | null;
    readonly text: string;
  }[];
}

export type WordBlock =
  | TextBlock
  | CodeBlock
  | DiffBlock
  | TableBlock
  | MediaBlock
  | NoteBlock
  | ChangedBlock
  | RecordsBlock;

/**
 * What happened, in words: a line of spans, and blocks below it, in order. Every surface draws these words and has none of its own: it
 * chooses colours, wrapping, marks and tags, and makes the texts harmless, which are as recorded.
 */
export interface Words {
  /** Null: not recorded. */
  readonly timestamp: string | null;
  readonly tone: Tone;
  /** Whether it is a failure. A surface marks it with ✗. */
  readonly isFailed: boolean;
  readonly spans: readonly WordSpan[];
  readonly blocks: readonly WordBlock[];
}

/** A row in words. */
export interface RowWords extends Words {
  readonly position: number;
  readonly kind: RowKind;
  /** '' for the dispatched agent. */
  readonly agentId: string;
  /** Levels below the dispatched agent. */
  readonly depth: number;
}

/** The text of the spans with a label. */
export function spanText({ spans }: Pick<Words, 'spans'>, ...labels: readonly SpanLabel[]): string {
  return spans.flatMap(({ label, text }) => (labels.includes(label) ? text : [])).join(' ');
}
