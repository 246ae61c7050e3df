import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { ContextMessage } from './history/context-message.ts';
import { type MessagesThen, SharedMessages } from './shared-messages.ts';

/** Messages between two states of the hash that are kept: what a change further back costs at most to hash again. */
const betweenStates = 64;

type HashState = ReturnType<typeof sha256.create>;

/** A message with the tokens that it takes. */
export interface CountedMessage {
  readonly message: ContextMessage;
  readonly tokens: number;
}

/** A list of messages with the hash and the tokens of each beginning of it. What stays is neither hashed nor counted again. */
export class MessageList {
  readonly #messages = new SharedMessages();
  /** Of all messages up to and with each. */
  readonly #tokens: number[] = [];
  /** The state before the messages 0, 64, 128 … */
  readonly #states: HashState[] = [sha256.create()];
  /** The state behind the messages that were hashed last. */
  #latest: { readonly count: number; readonly state: HashState } = { count: 0, state: sha256.create() };

  get length(): number {
    return this.#messages.length;
  }

  /** The messages as they are now, also when the list is another one. */
  get now(): MessagesThen {
    return this.#messages.now;
  }

  /** Tokens of the first messages. */
  tokensOf(count: number): number {
    return count === 0 ? 0 : (this.#tokens[count - 1] ?? 0);
  }

  /** Puts these in the place of all messages from an index on, and tells how many from the beginning are as before. */
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

  /** The state behind the first messages; what is behind the nearest state that is known is hashed. */
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

/** Whether two messages are the same bytes. Most that are the same are the same object. */
function isSame(one: ContextMessage | undefined, other: ContextMessage): boolean {
  return one === other || (one !== undefined && JSON.stringify(one) === JSON.stringify(other));
}
