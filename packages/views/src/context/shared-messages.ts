import type { ContextMessage } from './history/context-message.ts';

/** Messages that are kept together: what a change in the middle copies at most. */
const blockSize = 64;

/** Messages behind those of the block before. They are only ever added to, so who knows how many there were sees no more. */
interface Block {
  readonly before: Block | null;
  readonly start: number;
  readonly messages: ContextMessage[];
}

/** The messages at one moment; what came of the list later is not in it. */
export interface MessagesThen {
  readonly length: number;
  readonly last: Block | null;
}

/** A list whose moments share what they have in common: to keep one copies nothing. */
export class SharedMessages {
  readonly #blocks: Block[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get now(): MessagesThen {
    return { length: this.#length, last: this.#blocks.at(-1) ?? null };
  }

  at(index: number): ContextMessage | undefined {
    return this.#blocks[Math.floor(index / blockSize)]?.messages[index % blockSize];
  }

  push(message: ContextMessage): void {
    const before = this.#blocks.at(-1) ?? null;
    if (this.#length % blockSize === 0)
      this.#blocks.push({ before, start: this.#length, messages: [message] });
    else before?.messages.push(message);
    this.#length += 1;
  }

  /** Leaves the first messages. What is added next goes into a block that no earlier moment has. */
  cut(length: number): void {
    if (length >= this.#length) return;
    this.#length = length;
    this.#blocks.length = Math.ceil(length / blockSize);
    const last = this.#blocks.pop();
    if (last !== undefined)
      this.#blocks.push({ ...last, messages: last.messages.slice(0, length - last.start) });
  }
}

/** The messages of a moment from an index on, as an array of the caller's own. Costs what it gives. */
export function messagesFrom(index: number, { length, last }: MessagesThen): ContextMessage[] {
  const messages = new Array<ContextMessage>(length - index);
  let end = length;
  for (let block = last; block !== null && end > index; block = block.before) {
    for (let at = Math.max(index, block.start); at < end; at += 1)
      messages[at - index] = block.messages[at - block.start] as ContextMessage;
    end = block.start;
  }
  return messages;
}
