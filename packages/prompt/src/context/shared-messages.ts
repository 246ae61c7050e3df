import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { ContextManifest } from './context-manifest.ts';
import type { ContextMessage } from './history/context-message.ts';

/** The number of messages between two saved states of the hash. A change further back hashes at most this many unchanged messages again. */
const betweenStates = 64;

/** Messages per block. A change in the middle copies at most one block. */
const blockSize = 64;

/** The messages after those of the block before. Only appended to, so a reader that knows an earlier length sees the same messages. */
interface Block {
  readonly before: Block | null;
  readonly start: number;
  readonly messages: ContextMessage[];
}

/** The messages at one moment. Later changes of the list are not visible in it. */
interface MessagesSnapshot {
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
function messagesFrom(index: number, { length, last }: MessagesSnapshot): ContextMessage[] {
  const messages = new Array<ContextMessage>(length - index);
  let end = length;
  for (let block = last; block !== null && end > index; block = block.before) {
    for (let at = Math.max(index, block.start); at < end; at += 1)
      messages[at - index] = block.messages[at - block.start] as ContextMessage;
    end = block.start;
  }
  return messages;
}

type HashState = ReturnType<typeof sha256.create>;

/** A message and its tokens. */
export interface CountedMessage {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** A list of messages with the hash and the tokens of each of its beginnings. Unchanged messages are not hashed or counted again. */
export class MessageList {
  readonly #messages = new SharedMessages();
  /** By index: the sum up to and including this message. */
  readonly #tokens: number[] = [];
  /** The state before the messages 0, 64, 128 … */
  readonly #states: HashState[] = [sha256.create()];
  /** The state after the messages that were hashed last. */
  #latest: { readonly count: number; readonly state: HashState } = { count: 0, state: sha256.create() };

  get length(): number {
    return this.#messages.length;
  }

  /** The current messages. Stays as it is when the list changes. */
  get snapshot(): MessagesSnapshot {
    return this.#messages.snapshot;
  }

  /** Tokens of the first messages. */
  tokensOf(count: number): number {
    return count === 0 ? 0 : (this.#tokens[count - 1] ?? 0);
  }

  /** Replaces all messages from an index on. Returns the number of messages from the beginning that are unchanged. */
  replaceFrom(index: number, messages: Iterable<CountedMessage>): number {
    let at = index;
    let kept = -1;
    for (const { message, tokens } of messages) {
      if (kept < 0 && !isSame(this.#messages.at(at), message)) kept = this.#cut(at);
      if (kept >= 0) this.#push(message, tokens);
      at += 1;
    }
    return kept >= 0 ? kept : this.#cut(at);
  }

  /** `sha256:` and the hash of the first messages as JSON lines. */
  hashOf(count: number): string {
    const state = this.#stateNear(count).clone();
    return `sha256:${bytesToHex(state.digest())}`;
  }

  #push(message: ContextMessage, tokens: number): void {
    this.#tokens.push(this.tokensOf(this.length) + tokens);
    this.#messages.push(message);
  }

  #cut(length: number): number {
    this.#messages.cut(length);
    this.#tokens.length = length;
    this.#states.length = Math.min(this.#states.length, Math.floor(length / betweenStates) + 1);
    if (this.#latest.count > length) this.#latest = { count: 0, state: sha256.create() };
    return length;
  }

  /** The state after the first `count` messages. Hashes the messages after the nearest saved state. */
  #stateNear(count: number): HashState {
    const block = Math.min(this.#states.length - 1, Math.floor(count / betweenStates));
    const { latest, from } =
      this.#latest.count <= count && this.#latest.count > block * betweenStates
        ? { latest: this.#latest.state.clone(), from: this.#latest.count }
        : { latest: this.#states[block]?.clone() ?? sha256.create(), from: block * betweenStates };
    for (let index = from; index < count; index += 1) {
      if (index === this.#states.length * betweenStates) this.#states.push(latest.clone());
      latest.update(utf8ToBytes(`${JSON.stringify(this.#messages.at(index))}\n`));
    }
    if (count >= this.#latest.count) this.#latest = { count, state: latest };
    return latest;
  }
}

/** Whether two messages are the same bytes. Equal messages are mostly the same object. */
function isSame(one: ContextMessage | undefined, other: ContextMessage): boolean {
  return one === other || (one !== undefined && JSON.stringify(one) === JSON.stringify(other));
}

/** A prompt and its manifest. It does not change when its renderer observes more events. */
export interface RenderedContext {
  /** An array that belongs to the caller, built at the first access: until then a long context costs no more than a short one. */
  readonly messages: readonly ContextMessage[];
  /** The messages after `manifest.prefix`, which differ from the previous call. The cost is proportional to their number. */
  readonly added: readonly ContextMessage[];
  readonly manifest: ContextManifest;
}

export function renderedContext(manifest: ContextManifest, snapshot: MessagesSnapshot): RenderedContext {
  let messages: readonly ContextMessage[] | undefined;
  let added: readonly ContextMessage[] | undefined;
  return {
    get messages() {
      messages ??= messagesFrom(0, snapshot);
      return messages;
    },
    get added() {
      added ??= messagesFrom(manifest.prefix.messages, snapshot);
      return added;
    },
    manifest,
  };
}
