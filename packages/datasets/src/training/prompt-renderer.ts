import { type CapturedEvent, definedOnly } from '@hansard/events';
import {
  type ContextRenderer,
  createContextRenderer,
  isContextError,
  type RenderedContext,
  type TokenCounter,
} from '@hansard/views';
import type { PromptRecipe } from './inference-records.ts';
import { type MeasureMessage, nothing, plus, type RowSize } from './rows/row-size.ts';

/** A prompt, and its place in the sequence of its renderer. Always small: the messages are built on request. */
export interface Prompt {
  readonly context: RenderedContext;
  /** The number of messages. */
  readonly length: number;
  /** The sum of its messages; nothing without a measure. */
  readonly size: RowSize;
  /** Whether the messages include answers. */
  readonly holdsAnswers: boolean;
  readonly renderer: PromptRenderer;
  readonly number: number;
}

/** Renders the prompts of one agent with one policy. */
export class PromptRenderer {
  readonly #renderer: ContextRenderer;
  readonly #measure: MeasureMessage | undefined;
  /** By index: the sum of the messages of the latest prompt up to and including this one. */
  readonly #sizes: RowSize[] = [];
  #count = 0;
  /** The index of the first answer in the latest prompt. */
  #firstAnswer = Number.POSITIVE_INFINITY;

  constructor(
    { policy, rendererVersion }: PromptRecipe,
    tokens: TokenCounter | undefined,
    measure: MeasureMessage | undefined,
  ) {
    this.#measure = measure;
    this.#renderer = createContextRenderer({ policy, rendererVersion, ...definedOnly({ tokens }) });
  }

  observe(event: CapturedEvent): void {
    this.#renderer.observe(event);
  }

  /** Null if it does not fit the budget: then the model was given a different prompt. */
  render(): Prompt | null {
    this.#count += 1;
    try {
      const context = this.#renderer.render();
      const length = context.manifest.messages;
      const size = this.#sizeOf(context);
      const holdsAnswers = this.#hasAnswer(context);
      return { context, length, size, holdsAnswers, renderer: this, number: this.#count };
    } catch (error) {
      // The prefix of the next prompt may be part of this one, which was not measured.
      this.#sizes.length = 0;
      if (isContextError(error)) return null;
      throw error;
    }
  }

  /** Measures only the new messages of the prompt. */
  #sizeOf(context: RenderedContext): RowSize {
    if (this.#measure === undefined) return nothing;
    const { messages } = context.manifest.prefix;
    const isKnown = this.#sizes.length >= messages;
    this.#sizes.length = isKnown ? messages : 0;
    let size = this.#sizes.at(-1) ?? nothing;
    for (const message of isKnown ? context.added : context.messages) {
      size = plus(size, this.#measure(message));
      this.#sizes.push(size);
    }
    return size;
  }

  /** Reads only the new messages of the prompt. */
  #hasAnswer({ added, manifest: { prefix } }: RenderedContext): boolean {
    if (this.#firstAnswer >= prefix.messages) {
      const place = added.findIndex(({ role }) => role === 'assistant');
      this.#firstAnswer = place < 0 ? Number.POSITIVE_INFINITY : prefix.messages + place;
    }
    return this.#firstAnswer !== Number.POSITIVE_INFINITY;
  }
}

/** Whether a prompt shows less than the transcript. */
export function isShortened({ context }: Prompt): boolean {
  const { omitted, parts } = context.manifest;
  return (
    Object.keys(omitted).length > 0 ||
    parts.some(({ detail, kind }) => kind === 'summary' || detail !== 'high')
  );
}
