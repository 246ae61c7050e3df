import type { CapturedEvent } from '@hansard/events';
import {
  type ContextManifest,
  type ContextMessage,
  type ContextRenderer,
  createContextRenderer,
  isContextError,
  type TokenCounter,
} from '@hansard/views';
import type { PromptRecipe } from './inference-records.ts';

/** A prompt, and where it stands among those of its renderer. */
export interface Prompt {
  readonly messages: readonly ContextMessage[];
  readonly manifest: ContextManifest;
  readonly renderer: PromptRenderer;
  readonly number: number;
}

/** Renders the prompts of one agent by one recipe. */
export class PromptRenderer {
  readonly #renderer: ContextRenderer;
  #count = 0;

  constructor({ policy }: PromptRecipe, tokens: TokenCounter | undefined) {
    this.#renderer = createContextRenderer({ policy, ...(tokens === undefined ? {} : { tokens }) });
  }

  observe(event: CapturedEvent): void {
    this.#renderer.observe(event);
  }

  /** Null where it does not fit: then it is not what the model was given. */
  render(): Prompt | null {
    this.#count += 1;
    try {
      return { ...this.#renderer.render(), renderer: this, number: this.#count };
    } catch (error) {
      if (isContextError(error)) return null;
      throw error;
    }
  }
}

/** Whether a prompt shows less than there was. */
export function isShortened({ manifest: { omitted, parts } }: Prompt): boolean {
  return (
    Object.keys(omitted).length > 0 ||
    parts.some(({ detail, kind }) => kind === 'summary' || detail !== 'high')
  );
}
