import type { ContextMessage } from './history/context-message.ts';

/** Messages per block. A change in the middle copies at most one block. */
const blockSize = 64;

/** The messages after those of the block before. Only appended to, so a reader that knows an earlier length sees the same messages. */
interface Block {
  readonly before: Block | null;
  readonly start: number;
  readonly messages: ContextMessage[];
}

/** The messages at one moment. Later changes of the list are not visible in it. */
export interface MessagesSnapshot {
  readonly length: number;
  readonly last: Block | null;
}

/** A list whose snapshots share their common blocks: taking a snapshot copies nothing. */
export class SharedMessages {
  readonly #blocks: Block[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get snapshot(): MessagesSnapshot {
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

  /** Keeps the first `length` messages. The next message goes into a block that no snapshot shares. */
  cut(length: number): void {
    if (length >= this.#length) return;
    this.#length = length;
    this.#blocks.length = Math.ceil(length / blockSize);
    const last = this.#blocks.pop();
    if (last !== undefined)
      this.#blocks.push({ ...last, messages: last.messages.slice(0, length - last.start) });
  }
}

/** The messages of a snapshot from an index on, as a new array. The cost is proportional to its length. */
export function messagesFrom(index: number, { length, last }: MessagesSnapshot): ContextMessage[] {
  const messages = new Array<ContextMessage>(length - index);
  let end = length;
  for (let block = last; block !== null && end > index; block = block.before) {
    for (let at = Math.max(index, block.start); at < end; at += 1)
      messages[at - index] = block.messages[at - block.start] as ContextMessage;
    end = block.start;
  }
  return messages;
}
