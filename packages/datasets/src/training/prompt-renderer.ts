import { type CapturedEvent, definedOnly } from '@hansard/events';
import {
  type ContextRenderer,
  createContextRenderer,
  isContextError,
  type RenderedContext,
  type TokenCounter,
} from '@hansard/views';
import type { PromptRecipe } from './inference-records.ts';

/** A prompt, and its place in the sequence of its renderer. Always small: the messages are built on request. */
export interface Prompt {
  readonly context: RenderedContext;
  /** The number of messages. */
  readonly length: number;
  /** Whether the messages include answers. */
  readonly holdsAnswers: boolean;
  readonly renderer: PromptRenderer;
  readonly number: number;
}

/** Renders the prompts of one agent with one policy. */
export class PromptRenderer {
  readonly #renderer: ContextRenderer;
  #count = 0;
  /** The index of the first answer in the latest prompt. */
  #firstAnswer = Number.POSITIVE_INFINITY;

  constructor({ policy, rendererVersion }: PromptRecipe, tokens: TokenCounter | undefined) {
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
      return { context, length, holdsAnswers: this.#hasAnswer(context), renderer: this, number: this.#count };
    } catch (error) {
      if (isContextError(error)) return null;
      throw error;
    }
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
