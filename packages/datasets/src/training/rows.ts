import { type CapturedEvent, isEventOf, type JsonObject, type JsonValue } from '@hansard/events';
import type { CallRequest, ContextMessage } from '@hansard/prompt';
import type { createTextSplitter } from '@hansard/views';

/**
 * The place of thoughts: nowhere; before the text in `<think>` tags; or in a key of their own, as the templates of
 * different models expect them.
 */
export const reasoningModes = ['drop', 'think-tags', 'reasoning_content', 'thinking'] as const;

export type ReasoningMode = (typeof reasoningModes)[number];

export interface RowOptions {
  readonly reasoning: ReasoningMode;
  /** The definitions of the tools in the form of the target, for all rows. Absent: those that the log has for the calls of a row. */
  readonly tools?: readonly JsonValue[] | undefined;
  readonly files: RowFiles;
  /** Finds the thoughts in the texts of agents. Null: texts have none, or the format keeps them where they are. */
  readonly split: ReturnType<typeof createTextSplitter> | null;
}

/** An image, a document or a sound that a prompt has. */
export type RowFile = NonNullable<Extract<ContextMessage, { role: 'user' }>['files']>[number];

/** The types of images that the formats with images can have. */
const shownTypes: ReadonlySet<string | undefined> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** The images of one dispatch, for its rows. */
export class RowFiles {
  /** By digest: the bytes in Base64, or how many characters they have. */
  readonly #bytes = new Map<string, string | number>();
  #keepsBytes = true;
  /** Characters of images that were measured and are not in a row. */
  #unwritten = 0;
  /** Whether an image of any dispatch is in a row. */
  hasImages = false;

  /** Begins a reading of a dispatch. Without bytes, rows are only measured. */
  begin({ keepsBytes }: { readonly keepsBytes: boolean }): void {
    this.#bytes.clear();
    this.#keepsBytes = keepsBytes;
  }

  add(event: CapturedEvent): void {
    if (!isEventOf(event, 'content:stored')) return;
    const { sha256, base64 = '' } = event.data;
    if (base64 !== '') this.#bytes.set(sha256, this.#keepsBytes ? base64 : base64.length);
  }

  /** The files of a message that the formats with images show. */
  imagesIn(message: ContextMessage): readonly RowFile[] {
    if (message.role !== 'user') return [];
    return (message.files ?? []).filter(
      ({ sha256, mediaType }) => shownTypes.has(mediaType) && this.#bytes.has(sha256),
    );
  }

  urlOf({ sha256, mediaType }: RowFile): string {
    this.hasImages = true;
    const bytes = this.#bytes.get(sha256) ?? '';
    if (typeof bytes === 'number') this.#unwritten += bytes;
    return `data:${mediaType};base64,${typeof bytes === 'number' ? '' : bytes}`;
  }

  takeUnwritten(): number {
    const unwritten = this.#unwritten;
    this.#unwritten = 0;
    return unwritten;
  }
}

/**
 * What an agent wrote and what it thought: the thoughts that its model gave apart, then those in its text. The text keeps its form, such as tags, so that the game
 * can read it.
 */
export function wordsAndThoughts(
  text: string,
  thinking: string | null,
  { split }: Pick<RowOptions, 'split'>,
): { readonly text: string; readonly thinking: string | null } {
  const found = text === '' ? undefined : split?.(text);
  const thoughts = found?.parts.flatMap((part) => (part.kind === 'thinking' ? part.text.trim() : [])) ?? [];
  if (found === undefined || thoughts.length === 0) return { text, thinking };
  return { text: found.withoutThoughts, thinking: [thinking ?? [], thoughts].flat().join('\n') };
}

/** The text of an answer, with its thoughts if they are part of it. */
export function textWithThoughts(text: string, thinking: string | null, reasoning: ReasoningMode): string {
  if (thinking === null || reasoning !== 'think-tags') return text;
  return `<think>\n${thinking}\n</think>\n${text}`;
}

/** The key for the thoughts of an answer, if they have one. */
export function thoughtsField(thinking: string | null, reasoning: ReasoningMode): Record<string, string> {
  const isField = reasoning === 'reasoning_content' || reasoning === 'thinking';
  return thinking === null || !isField ? {} : { [reasoning]: thinking };
}

/** The column for the definitions of the tools, if any. TRL has the form of OpenAI. */
export function toolsField(logged: CallRequest['tools'], { tools }: RowOptions): JsonObject {
  if (tools !== undefined) return { tools: [...tools] };
  const known = functionsOf(logged);
  return known === null
    ? {}
    : { tools: known.map((definition) => ({ type: 'function', function: definition })) };
}

/** The functions that a model was given. Null: none, or the log does not have their definitions. */
function functionsOf({ basis, value }: CallRequest['tools']): JsonObject[] | null {
  if (basis !== 'recorded' || value === null) return null;
  return value.map(({ name, description, inputSchema }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    parameters: inputSchema ?? { type: 'object', properties: {} },
  }));
}

/** The arguments of a call; empty for a call without input. */
export function argumentsOf(input: JsonValue): JsonValue {
  return input ?? {};
}

export interface RowSize {
  readonly bytes: number;
  readonly tokens: number;
}

export type MeasureMessage = (message: ContextMessage) => RowSize;

export const nothing: RowSize = { bytes: 0, tokens: 0 };

export function plus(one: RowSize, other: RowSize): RowSize {
  return { bytes: one.bytes + other.bytes, tokens: one.tokens + other.tokens };
}
