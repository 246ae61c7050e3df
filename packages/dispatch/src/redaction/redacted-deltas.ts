import type { Delta } from '@hansard/events';
import type { Redactor } from '@hansard/redaction';

/** Characters that end a secret. What follows the last one is withheld, because it can be the beginning of a secret. */
const ends = /[\s"'<>`](?=[^\s"'<>`]*$)/;
const longestHeld = 4_096;
/** How much of a text is searched again with each delta. */
const longestWindow = 8_192;
const keptWindow = 4_096;

interface GrowingText {
  /** The block that grows: everything of its deltas but the text. */
  readonly block: Delta;
  /** The last characters that were released, as the model wrote them. */
  window: string;
  /** The same, redacted: its end is what was published. */
  shown: string;
  /** Not released yet. */
  held: string;
}

/**
 * Removes secrets from streamed texts, including those that are split over deltas. The steps for each delta: 1. Its text is
 * added to what is withheld. 2. What ends in white space or a quotation mark is released to the window. 3. The window is redacted,
 * and published from where it differs from the earlier deltas. So a secret is whole when it is searched, and a
 * beginning that was published before it was known, such as the first line of a private key, is followed by the marker.
 */
export class RedactedDeltas {
  readonly #redactor: Pick<Redactor, 'text'>;
  /** One growing text for each agent. */
  readonly #growing = new Map<string, GrowingText>();

  constructor(redactor: Pick<Redactor, 'text'>) {
    this.#redactor = redactor;
  }

  /** What is published in place of a delta. */
  take(delta: Delta): Delta[] {
    const key = delta.agentId ?? '';
    const before = this.#growing.get(key);
    const published =
      before !== undefined && !isOfBlock(delta, before.block) ? this.finish(delta.agentId) : [];
    const growing = this.#growing.get(key) ?? { block: delta, window: '', shown: '', held: '' };
    this.#growing.set(key, growing);
    const text = growing.held + delta.text;
    const end = text.length > longestHeld ? text.length : (ends.exec(text)?.index ?? -1) + 1;
    growing.held = text.slice(end);
    return [...published, ...this.#release(growing, text.slice(0, end))];
  }

  /** What remains of the text of an agent, when an event of it is recorded or another block begins. */
  finish(agentId: string | undefined): Delta[] {
    const growing = this.#growing.get(agentId ?? '');
    if (growing === undefined) return [];
    this.#growing.delete(agentId ?? '');
    return this.#release(growing, growing.held);
  }

  #release(growing: GrowingText, text: string): Delta[] {
    if (text === '') return [];
    growing.window += text;
    const redacted = this.#redactor.text(growing.window).text;
    const published = redacted.slice(commonLength(growing.shown, redacted));
    growing.shown = redacted;
    if (growing.window.length > longestWindow) {
      growing.window = growing.window.slice(-keptWindow);
      growing.shown = this.#redactor.text(growing.window).text;
    }
    return published === '' ? [] : [{ ...growing.block, text: published }];
  }
}

function isOfBlock(delta: Delta, block: Delta): boolean {
  return (
    delta.type === block.type && delta.messageId === block.messageId && delta.toolCallId === block.toolCallId
  );
}

function commonLength(one: string, other: string): number {
  if (other.startsWith(one)) return one.length;
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
