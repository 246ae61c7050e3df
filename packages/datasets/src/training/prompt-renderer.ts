import { type CapturedEvent, definedOnly } from '@hansard/events';
import {
  type ContextMessage,
  type ContextRenderer,
  contextErrors,
  createBranchRenderer,
  type RenderedContext,
  type TokenCounter,
} from '@hansard/prompt';
import type { PromptRecipe } from './inference-records.ts';
import { type MeasureMessage, nothing, plus, type RowSize } from './rows.ts';

/** Something that a message of a prompt can hold. */
type Holding = keyof typeof holdings;

const holdings = {
  encodedBytes: ({ text }: ContextMessage) => holdsEncodedBytes(text),
};

/** A prompt, and its place in the sequence of its renderer. Always small: the messages are built on request. */
export interface Prompt {
  readonly context: RenderedContext;
  /** The number of messages. */
  readonly length: number;
  /** The sum of its messages; nothing without a measure. */
  readonly size: RowSize;
  /** Whether any message holds it. */
  holds(what: Holding): boolean;
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
  /** The index of the first message of the latest prompt that holds it. */
  readonly #firsts = new Map<Holding, number>();

  constructor(
    { policy }: PromptRecipe,
    tokens: TokenCounter | undefined,
    measure: MeasureMessage | undefined,
    takenBack: ReadonlySet<string>,
  ) {
    this.#measure = measure;
    const nothing = { values: [], takenBack, cut: new Set<string>(), isKnown: true };
    this.#renderer = createBranchRenderer(nothing, { policy, ...definedOnly({ tokens }) });
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
      const held = this.#heldBy(context);
      return {
        context,
        length,
        size,
        holds: (what) => held.has(what),
        renderer: this,
        number: this.#count,
      };
    } catch (error) {
      // The prefix of the next prompt may be part of this one, which was not measured.
      this.#sizes.length = 0;
      if (contextErrors.is(error)) return null;
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
  #heldBy({ added, manifest: { prefix } }: RenderedContext): ReadonlySet<Holding> {
    for (const what of ['encodedBytes'] as const) {
      if ((this.#firsts.get(what) ?? Number.POSITIVE_INFINITY) < prefix.messages) continue;
      const place = added.findIndex(holdings[what]);
      if (place < 0) this.#firsts.delete(what);
      else this.#firsts.set(what, prefix.messages + place);
    }
    return new Set(this.#firsts.keys());
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

/** The shortest run of Base64 that is taken for encoded bytes. Words, paths and hashes are shorter. */
const shortestRun = 1_000;
/** The same for a run after `;base64,`, as in a data URI. */
const shortestInUri = 64;
const uriMark = ';base64,';

/** Whether a text holds encoded bytes: a data URI, or a long run of Base64 with capitals, small letters and digits. */
export function holdsEncodedBytes(text: string): boolean {
  let [start, kinds] = [0, 0];
  for (let at = 0; at <= text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    kinds |= kind;
    if (kind !== 0) continue;
    const length = at - start;
    if (length >= shortestRun && (kinds & 7) === 7) return true;
    if (length >= shortestInUri && text.slice(start - uriMark.length, start) === uriMark) return true;
    [start, kinds] = [at + 1, 0];
  }
  return false;
}

/** A bit for each kind of character of Base64, with the alphabet of URLs; 0 for any other. */
function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  if (code >= 48 && code <= 57) return 4;
  return code === 43 || code === 47 || code === 45 || code === 95 ? 8 : 0;
}
