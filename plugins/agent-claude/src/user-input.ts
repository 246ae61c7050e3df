import { randomUUID } from 'node:crypto';
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

/** The messages to the agent: those that the engine has not received, and those that it has not answered yet. */
export class UserInput {
  readonly #unsent: SDKUserMessage[] = [];
  readonly #unanswered = new Set<string>();
  #isOpen = false;
  #wake = () => {};

  /** The first message. A result always answers it. */
  addPrompt(text: string): void {
    this.#unsent.push(userMessage(text));
    this.#wake();
  }

  add(text: string): void {
    this.#unsent.push({ ...userMessage(text), uuid: randomUUID() });
    this.#wake();
  }

  /** Marks a message as answered. */
  answered(uuid: string): void {
    this.#unanswered.delete(uuid);
  }

  get hasUnsent(): boolean {
    return this.#unsent.length > 0;
  }

  /** Whether a message is unanswered. */
  get isPending(): boolean {
    return this.hasUnsent || this.#unanswered.size > 0;
  }

  /** The input of one engine, until `close`. Later messages are for the next engine. */
  async *open(): AsyncGenerator<SDKUserMessage> {
    this.#isOpen = true;
    this.#unanswered.clear();
    while (this.#isOpen) {
      const message = this.#unsent.shift();
      if (message === undefined) {
        await new Promise<void>((wake) => {
          this.#wake = wake;
        });
      } else {
        if (message.uuid !== undefined) this.#unanswered.add(message.uuid);
        yield message;
      }
    }
  }

  close(): void {
    this.#isOpen = false;
    this.#wake();
  }
}

function userMessage(content: string): SDKUserMessage {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
}
