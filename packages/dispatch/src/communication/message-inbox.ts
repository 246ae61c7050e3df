import type { CapturedEvent } from '@hansard/events';
import { leavableIterator } from '../async/leavable-iterator.ts';
import { Notifier } from '../async/notifier.ts';

/** Messages for a running agent, in order. Ends after it was closed and the agent has taken all of them. */
export class MessageInbox implements AsyncIterable<CapturedEvent> {
  readonly #messages: CapturedEvent[] = [];
  readonly #notifier = new Notifier();
  #closed = false;

  push(message: CapturedEvent): void {
    this.#messages.push(message);
    this.#notifier.notify();
  }

  close(): void {
    this.#closed = true;
    this.#notifier.notify();
  }

  [Symbol.asyncIterator](): AsyncIterator<CapturedEvent, undefined> {
    const listener = { hasLeft: false };
    return leavableIterator(this.#take(listener), () => {
      listener.hasLeft = true;
      this.#notifier.notify();
    });
  }

  async *#take(listener: { readonly hasLeft: boolean }): AsyncGenerator<CapturedEvent, undefined> {
    while (!listener.hasLeft) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.#closed) return;
      else await this.#notifier.wait();
    }
  }
}
