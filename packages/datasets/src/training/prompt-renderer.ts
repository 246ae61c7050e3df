import { type CapturedEvent, definedOnly } from '@hansard/events';
import {
  type ContextRenderer,
  createContextRenderer,
  isContextError,
  type RenderedContext,
  type TokenCounter,
} from '@hansard/views';
import type { PromptRecipe } from './inference-records.ts';

/** A prompt, and where it stands among those of its renderer. Small, however long it is: its messages are made when they are asked for. */
export interface Prompt {
  readonly context: RenderedContext;
  /** Messages in it. */
  readonly length: number;
  /** Whether there are answers among them. */
  readonly holdsAnswers: boolean;
  readonly renderer: PromptRenderer;
  readonly number: number;
}

/** Renders the prompts of one agent by one recipe. */
export class PromptRenderer {
  readonly #renderer: ContextRenderer;
  #count = 0;
  /** Where the first answer stands in the latest prompt. */
  #firstAnswer = Number.POSITIVE_INFINITY;

  constructor({ policy, rendererVersion }: PromptRecipe, tokens: TokenCounter | undefined) {
    this.#renderer = createContextRenderer({ policy, rendererVersion, ...definedOnly({ tokens }) });
  }

  observe(event: CapturedEvent): void {
    this.#renderer.observe(event);
  }

  /** Null where it does not fit: then it is not what the model was given. */
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

  /** Looks at no more than what is new in the prompt. */
  #hasAnswer({ added, manifest: { prefix } }: RenderedContext): boolean {
    if (this.#firstAnswer >= prefix.messages) {
      const place = added.findIndex(({ role }) => role === 'assistant');
      this.#firstAnswer = place < 0 ? Number.POSITIVE_INFINITY : prefix.messages + place;
    }
    return this.#firstAnswer !== Number.POSITIVE_INFINITY;
  }
}

/** Whether a prompt shows less than there was. */
export function isShortened({ context }: Prompt): boolean {
  const { omitted, parts } = context.manifest;
  return (
    Object.keys(omitted).length > 0 ||
    parts.some(({ detail, kind }) => kind === 'summary' || detail !== 'high')
  );
}
