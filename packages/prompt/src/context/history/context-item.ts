import type { JsonValue } from '@hansard/events';
import { freezeDeep } from '@hansard/events/plain';
import type { TranscriptToolCall } from '../../transcript/transcript-message.ts';
import type { ContextFile, ContextMessage } from './context-message.ts';
import { callAt, type Detail, type Substance, textAt } from './detail.ts';

/** The text of the result of a tool call without one: its session stopped before the call was done. */
export const interruption =
  'interrupted: the session stopped before this call was done. What it had done by then stands.';

/** The text of the result of a tool call that a rewind, or a fork, took back before it had one. */
export const takenBackText =
  'taken back: the conversation went back before this call had a result. What it had done by then stands.';

/** The approximate tokens of a message and of a tool call beside their texts, with any provider. */
const tokensAround = 4;

/** The tokens of a file, about the most that an image takes with usual models. The real number depends on model and size. */
const tokensOfFile = 1_600;

/** An item is the text of one role, an answer with its calls, or the result of one call. */
export type ItemKind =
  | { readonly role: 'system' | 'user' | 'assistant'; readonly substance: Substance }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly tool: string;
      /** Whether a rewind took the call back, if it has no result. */
      readonly isTakenBack: boolean;
    };

/** The parts of a message, and the messages and counts that were computed from them. */
interface Content {
  readonly texts: string[];
  readonly calls: TranscriptToolCall[];
  readonly thoughts: string[];
  readonly files: ContextFile[];
  /** Undefined: the provider gets nothing back, not even the thoughts. */
  replay: JsonValue | undefined;
  /** The tokens of each text that was counted, at any detail. */
  readonly counts: Map<string, number>;
  readonly messages: Map<Detail, ContextMessage>;
  readonly tokens: Map<Detail, number>;
}

/** One message of a context, to which events add parts. It is rendered and counted once for each detail. */
export class ContextItem {
  /** The id of its first event; for a result, of the event of its call. */
  readonly first: string;
  readonly #kind: ItemKind;
  readonly #count: (text: string) => number;
  #isError = false;
  /** Null: released. */
  #content: Content | null = {
    texts: [],
    calls: [],
    thoughts: [],
    files: [],
    replay: undefined,
    counts: new Map(),
    messages: new Map(),
    tokens: new Map(),
  };

  constructor(kind: ItemKind, first: string, count: (text: string) => number) {
    this.#kind = kind;
    this.first = first;
    this.#count = count;
  }

  /** Drops the content: the item is never shown again, and later additions are ignored. */
  release(): void {
    this.#content = null;
  }

  addText(text: string, isError = false): void {
    const content = this.#content;
    if (content === null) return;
    const { texts, messages, tokens } = content;
    if (this.#isOpenCall(content)) tokens.clear();
    texts.push(text);
    this.#isError ||= isError;
    messages.clear();
    for (const [detail, before] of tokens)
      tokens.set(detail, before + this.#tokensOf(content, this.#textAt(text, detail)));
  }

  addCall(call: TranscriptToolCall): void {
    const content = this.#content;
    if (content === null) return;
    const { calls, messages, tokens } = content;
    calls.push(freezeDeep(structuredClone(call)));
    messages.clear();
    for (const [detail, before] of tokens)
      tokens.set(detail, before + this.#tokensOfCall(content, call, detail));
  }

  /** Adds a file to a message of a user or a result, at the highest detail. */
  addFile(file: ContextFile): void {
    const content = this.#content;
    if (content === null) return;
    content.files.push(freezeDeep({ ...file }));
    content.messages.delete('high');
    content.tokens.delete('high');
  }

  /** Adds a thought of an answer, which is shown only with what `setReplay` adds. */
  addThought(text: string): void {
    this.#content?.thoughts.push(text);
  }

  /** Adds what the provider gets back with an answer, at the highest detail. */
  setReplay(replay: JsonValue): void {
    const content = this.#content;
    if (content === null) return;
    content.replay = freezeDeep(structuredClone(replay));
    content.messages.delete('high');
    content.tokens.delete('high');
  }

  messageAt(detail: Detail): ContextMessage {
    const { messages } = this.#held;
    const known = messages.get(detail);
    if (known !== undefined) return known;
    const message = freezeDeep(this.#render(detail));
    messages.set(detail, message);
    return message;
  }

  tokensAt(detail: Detail): number {
    const content = this.#held;
    const known = content.tokens.get(detail);
    if (known !== undefined) return known;
    let tokens = tokensAround;
    for (const text of content.texts) tokens += this.#tokensOf(content, this.#textAt(text, detail));
    for (const call of content.calls) tokens += this.#tokensOfCall(content, call, detail);
    const { thinking, replay } = repeatedAt(content, detail);
    if (thinking !== undefined) tokens += this.#count(thinking);
    if (replay !== undefined) tokens += this.#count(JSON.stringify(replay));
    if (detail === 'high') tokens += content.files.length * tokensOfFile;
    if (this.#isOpenCall(content)) tokens += this.#count(this.#openText);
    content.tokens.set(detail, tokens);
    return tokens;
  }

  get #held(): Content {
    if (this.#content === null) throw new RangeError(`The message of ${this.first} was released.`);
    return this.#content;
  }

  #render(detail: Detail): ContextMessage {
    const content = this.#held;
    const texts = content.texts.map((text) => this.#textAt(text, detail));
    const kind = this.#kind;
    if (kind.role === 'assistant') {
      const toolCalls = content.calls.map((call) => callAt(call, detail));
      return { role: kind.role, text: texts.join(''), toolCalls, ...repeatedAt(content, detail) };
    }
    const files = detail === 'high' && content.files.length > 0 ? { files: [...content.files] } : {};
    if (kind.role !== 'tool') {
      const text = texts.join('\n');
      return kind.role === 'system' ? { role: kind.role, text } : { role: kind.role, text, ...files };
    }
    const { role, toolCallId, tool } = kind;
    const isOpen = this.#isOpenCall(content);
    const text = isOpen ? this.#openText : texts.join('\n');
    return { role, toolCallId, tool, text, isError: isOpen || this.#isError, ...files };
  }

  get #openText(): string {
    return this.#kind.role === 'tool' && this.#kind.isTakenBack ? takenBackText : interruption;
  }

  #isOpenCall({ texts }: Content): boolean {
    return this.#kind.role === 'tool' && texts.length === 0;
  }

  #textAt(text: string, detail: Detail): string {
    const kind = this.#kind;
    if (kind.role === 'system') return text;
    return textAt(text, detail, kind.role === 'tool' ? 'tool' : kind.substance);
  }

  /** Most texts are the same at every detail, so each text is counted once. */
  #tokensOf({ counts }: Content, text: string): number {
    const known = counts.get(text);
    if (known !== undefined) return known;
    const tokens = this.#count(text);
    counts.set(text, tokens);
    return tokens;
  }

  #tokensOfCall(content: Content, call: TranscriptToolCall, detail: Detail): number {
    const { toolCallId, tool, input } = callAt(call, detail);
    return tokensAround + this.#tokensOf(content, `${toolCallId} ${tool} ${JSON.stringify(input)}`);
  }
}

/** What the provider gets back with an answer. In less detail it gets nothing: it could not use a part. */
function repeatedAt(
  { thoughts, replay }: Content,
  detail: Detail,
): { readonly thinking?: string; readonly replay?: JsonValue } {
  if (detail !== 'high' || replay === undefined) return {};
  return thoughts.length === 0 ? { replay } : { thinking: thoughts.join(''), replay };
}
