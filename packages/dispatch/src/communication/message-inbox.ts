import type { CapturedEvent } from '@hansard/events';
import { Bell } from '../async/bell.ts';
import { leavableIterator } from '../async/leavable-iterator.ts';

/** Messages for a running agent, in order; ends when it is closed and what was in it has been taken. */
export class MessageInbox implements AsyncIterable<CapturedEvent> {
  readonly #messages: CapturedEvent[] = [];
  readonly #bell = new Bell();
  #closed = false;

  push(message: CapturedEvent): void {
    this.#messages.push(message);
    this.#bell.ring();
  }

  close(): void {
    this.#closed = true;
    this.#bell.ring();
  }

  [Symbol.asyncIterator](): AsyncIterator<CapturedEvent, undefined> {
    const listener = { hasLeft: false };
    return leavableIterator(this.#take(listener), () => {
      listener.hasLeft = true;
      this.#bell.ring();
    });
  }

  async *#take(listener: { readonly hasLeft: boolean }): AsyncGenerator<CapturedEvent, undefined> {
    while (!listener.hasLeft) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.#closed) return;
      else await this.#bell.wait();
    }
  }
}
